# shellcheck shell=bash
# Builds for other systems, with zig as the linker (MinGW for Windows: with zig, maturin asks for a symbol that has the dot of
# the module's name; Apple's on a Mac). The scripts for wheels and for npm read this file.
#
# `PROFILE=smoke` builds in a fraction of the time, without the final optimizations. `PACKED=dist` takes the commands from the folders
# that archive.sh filled there, so that a release has one command for each system. Needs rustup, a folder of Python tools that it makes,
# and for Windows `x86_64-w64-mingw32-gcc`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh

profile="${PROFILE:-release}"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/skillfold-wheels"
target_folder="${CARGO_TARGET_DIR:-target}"
# shellcheck disable=SC2034 # The scripts that read this use it.
all_targets=(
    x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
    x86_64-pc-windows-gnu
)
# shellcheck disable=SC2034
if [ "$(uname)" = Darwin ]; then all_targets=(aarch64-apple-darwin x86_64-apple-darwin); fi

if [ ! -x "$tools/bin/pip" ]; then python3 -m venv "$tools"; fi
"$tools/bin/pip" install --quiet --disable-pip-version-check \
    maturin==1.16.0 ziglang==0.17.0 cargo-zigbuild==0.24.0 auditwheel==6.8.2 abi3audit==0.0.26 build==1.6.1
export PATH="$tools/bin:$PATH"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc

# Builds a package for a target. Further words are for cargo.
build_for() {
    local target="$1" package="$2" build=zigbuild version=""
    shift 2
    case "$target" in
        *-linux-gnu) version=.2.17 ;;
        *-windows-* | *-apple-*) build=build ;;
    esac
    rustup target add "$target" >/dev/null 2>&1
    cargo "$build" --quiet --locked --profile "$profile" --package "$package" --target "$target$version" "$@"
}

# Returns where a file that was built for a target is.
built_for() {
    echo "$target_folder/$1/$profile/$2"
}

# Returns the path of the command for a system, which it builds if it is not packed already. That of Linux is the static one, whichever
# the C library is.
command_for() {
    local target="${1/-linux-gnu/-linux-musl}" name=skillfold
    case "$target" in *-windows-*) name=skillfold.exe ;; esac
    if [ -n "${PACKED:-}" ]; then
        local folder
        folder="$PACKED/skillfold-$(workspace_field version)-$target"
        # On Windows, archive.sh links the command with Microsoft's linker.
        if [ ! -e "$folder" ]; then folder="${folder/-windows-gnu/-windows-msvc}"; fi
        echo "$folder/$name"
    else
        build_for "$target" skillfold-cli >&2 || return
        built_for "$target" "$name"
    fi
}

# Returns the flags for a library: it cannot be linked statically with the C library; the command is, where that is musl.
library_flags() {
    case "$1" in *-musl) echo "-C target-feature=-crt-static" ;; esac
}
