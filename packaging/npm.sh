#!/usr/bin/env bash
# Builds the packages for npm, and checks what they have for each system.
#
#     packaging/npm.sh                              # all targets that this system links: those of Apple need a Mac
#     packaging/npm.sh aarch64-unknown-linux-musl   # one
#
# Writes dist/npm. cross.sh says what it needs; also Node 20.19 or newer with npm, and `readelf` and `objdump`, or `otool` and
# `nm` on macOS.
set -euo pipefail
# shellcheck source=packaging/cross.sh
source "$(dirname "$0")/cross.sh"
if [ $# = 0 ]; then set -- "${all_targets[@]}"; fi
rm -rf dist/npm
mkdir -p dist/npm

# The build for Windows asks for Node's library, and needs nothing of it: functions are looked up when ours is loaded.
case "$*" in
    *-windows-gnu*)
        mkdir -p "$target_folder/no-libnode"
        LIBNODE_PATH="$(cd "$target_folder/no-libnode" && pwd)"
        export LIBNODE_PATH
        x86_64-w64-mingw32-gcc -shared -o "$LIBNODE_PATH/libnode.dll" -x c /dev/null
        ;;
esac

for target in "$@"; do
    command="$(command_for "$target")"
    RUSTFLAGS="$(library_flags "$target")" build_for "$target" skillfold-node
    library=libskillfold_node.so
    case "$target" in
        *-windows-*) library=skillfold_node.dll ;;
        *-apple-*) library=libskillfold_node.dylib ;;
    esac
    library="$(built_for "$target" "$library")"
    python3 packaging/check_library.py "$target" "$library"
    node bindings/node/pack.mjs platform "$target" "$library" "$command" --out dist/npm
done

# The compiler of TypeScript and the types of the frameworks.
mkdir -p "$tools/npm"
cp bindings/node/tests/package.json "$tools/npm/"
(cd "$tools/npm" && npm install --silent --no-audit --no-fund --legacy-peer-deps --ignore-scripts --no-package-lock)
node bindings/node/pack.mjs main --tsc "$tools/npm/node_modules/typescript/bin/tsc" --types "$tools/npm/node_modules" --out dist/npm
node bindings/node/pack.mjs create --out dist/npm
ls -l dist/npm
