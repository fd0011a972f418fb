#!/usr/bin/env bash
# Builds the wheels of the Python package for other systems, with zig as the linker (MinGW for Windows), and checks each.
#
#     packaging/wheels.sh                              # all targets that can be linked without a vendor's SDK
#     packaging/wheels.sh aarch64-unknown-linux-musl   # one
#
# Writes dist/wheels. `PROFILE=smoke` builds in a fraction of the time, without the final optimizations. Needs rustup, a
# folder of Python tools that it makes (maturin, zig, auditwheel, abi3audit), and for Windows `x86_64-w64-mingw32-gcc`: with zig,
# maturin asks for a symbol that has the dot of the module's name.
set -euo pipefail
cd "$(dirname "$0")/.."

profile="${PROFILE:-release}"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-wheels"
target_folder="${CARGO_TARGET_DIR:-target}"
all=(
    x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
    x86_64-pc-windows-gnu
)
if [ $# = 0 ]; then set -- "${all[@]}"; fi

if [ ! -x "$tools/bin/pip" ]; then python3 -m venv "$tools"; fi
"$tools/bin/pip" install --quiet --disable-pip-version-check \
    maturin==1.16.0 ziglang==0.17.0 cargo-zigbuild==0.24.0 auditwheel==6.8.2 abi3audit==0.0.26
export PATH="$tools/bin:$PATH"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
rm -rf dist/wheels
mkdir -p dist/wheels

for target in "$@"; do
    rustup target add "$target" >/dev/null 2>&1
    version="" compatibility="" program=skillfold build=zigbuild linker=--zig
    case "$target" in
        *-linux-gnu) version=.2.17 compatibility=manylinux_2_17 ;;
        *-linux-musl) compatibility=musllinux_1_2 ;;
        *-windows-*) program=skillfold.exe build=build linker="" ;;
    esac
    # A library cannot be linked statically with the C library; the command is, where that is musl.
    cargo "$build" --quiet --locked --profile "$profile" --package skillfold-cli --target "$target$version"
    rm -rf bindings/python/skillfold.data
    mkdir -p bindings/python/skillfold.data/scripts
    cp "$target_folder/$target/$profile/$program" bindings/python/skillfold.data/scripts/
    library_flags=""
    case "$target" in *-musl) library_flags="-C target-feature=-crt-static" ;; esac
    RUSTFLAGS="$library_flags" maturin build --quiet --locked ${linker:+$linker} --target "$target" --profile "$profile" --out dist/wheels \
        ${compatibility:+--compatibility "$compatibility"}
done

for wheel in dist/wheels/*.whl; do
    echo "--- $(basename "$wheel"): $(($(wc -c <"$wheel") / 1024)) KiB"
    # The C library of another system must not be looked for in the folders of this one.
    case "$wheel" in *linux*) auditwheel show --ldpaths /nowhere "$wheel" | grep -v '^$' | sed -n 1,4p ;; esac
    abi3audit --summary "$wheel"
done
