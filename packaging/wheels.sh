#!/usr/bin/env bash
# Builds the wheels of the Python package for other systems, and checks each; and the source distribution.
#
#     packaging/wheels.sh                              # all targets that this system links: those of Apple need a Mac
#     packaging/wheels.sh aarch64-unknown-linux-musl   # one
#
# Writes dist/wheels. cross.sh says what it needs.
set -euo pipefail
# shellcheck source=packaging/cross.sh
source "$(dirname "$0")/cross.sh"
if [ $# = 0 ]; then set -- "${all_targets[@]}"; fi
rm -rf dist/wheels
mkdir -p dist/wheels

for target in "$@"; do
    compatibility="" linker=--zig
    case "$target" in
        *-linux-gnu) compatibility=manylinux_2_17 ;;
        *-linux-musl) compatibility=musllinux_1_2 ;;
        *-windows-* | *-apple-*) linker="" ;;
    esac
    command="$(command_for "$target")"
    rm -rf bindings/python/skillfold.data
    mkdir -p bindings/python/skillfold.data/scripts
    cp "$command" bindings/python/skillfold.data/scripts/
    RUSTFLAGS="$(library_flags "$target")" maturin build --quiet --locked ${linker:+$linker} --target "$target" --profile "$profile" \
        --out dist/wheels ${compatibility:+--compatibility "$compatibility"}
done

rm -rf bindings/python/skillfold.data
"$tools/bin/python" -m build --quiet --sdist --no-isolation --outdir dist/wheels .

for wheel in dist/wheels/*.whl; do
    echo "--- $(basename "$wheel"): $(($(wc -c <"$wheel") / 1024)) KiB"
    # The C library of another system must not be looked for in the folders of this one.
    case "$wheel" in *linux*) auditwheel show --ldpaths /nowhere "$wheel" | grep -v '^$' | sed -n 1,4p ;; esac
    abi3audit --summary "$wheel"
done
