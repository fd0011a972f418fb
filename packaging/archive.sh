#!/usr/bin/env bash
# Builds the command for a target and packs it: binary, licences, README, manual pages, completions and AppArmor's profile, with
# a checksum.
#
#     packaging/archive.sh x86_64-unknown-linux-musl
#
# Writes dist/skillfold-VERSION-TARGET.tar.gz (.zip for Windows), its .sha256, and the unpacked folder. Then unpacks the archive
# somewhere else and runs the command, so the target must be one that this machine can run: Linux on ARM runs in qemu-user, and
# Windows in Wine. A binary for musl must come out static, and on x86-64 position-independent. Needs rustup, and a C compiler as a linker and
# for `ring`, whose C code uses no C library: for Linux on ARM `aarch64-linux-gnu-gcc`, for Windows MinGW.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh

limit=20000000
if [ $# != 1 ]; then
    echo "usage: packaging/archive.sh TARGET" >&2
    exit 2
fi
target="$1"
version="$(workspace_field version)"
name="skillfold-$version-$target"
folder="dist/$name"
program=skillfold archive="$folder.tar.gz"
case "$target" in *-windows-*) program=skillfold.exe archive="$folder.zip" ;; esac
# What runs a program of the target here.
runner=()
case "$target-$(uname -sm)" in
    aarch64-*-linux-*-"Linux x86_64") runner=(qemu-aarch64-static) ;;
    *-windows-*-Linux*) runner=(packaging/wine.sh) ;;
esac

place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT

fail() {
    echo "error: $*" >&2
    exit 1
}

# Runs a program of the target.
run() {
    ${runner[@]+"${runner[@]}"} "$@"
}

build() {
    rustup target add "$target"
    # Panic messages name source files; without this, those of crates and of the standard library would be named by their
    # path on the machine that builds.
    local crates="${CARGO_HOME:-$HOME/.cargo}/registry/src" std commit
    std="$(rustc --print sysroot)/lib/rustlib/src/rust"
    commit="$(rustc -vV | sed -n 's/^commit-hash: //p')"
    export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$crates=registry"$'\x1f'"--remap-path-prefix=$std=/rustc/$commit"
    local compiler="${CC:-cc}"
    if [ "${runner[*]-}" = qemu-aarch64-static ]; then
        compiler=aarch64-linux-gnu-gcc
        export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER="$compiler"
    fi
    case "$target" in
        *-linux-musl) export "CC_${target//-/_}=$compiler" ;;
        # Otherwise it would need a library that Windows does not have.
        *-windows-msvc) CARGO_ENCODED_RUSTFLAGS+=$'\x1f'"-Ctarget-feature=+crt-static" ;;
    esac
    cargo build --locked --release --package skillfold-cli --target "$target"
}

# The manual has a page for the command and one for each subcommand that this page refers to.
fill_folder() {
    rm -rf dist/skillfold-*-"$target"*
    mkdir -p "$folder/completions" "$folder/man"
    cp "${CARGO_TARGET_DIR:-target}/$target/release/$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder"
    case "$target" in *-linux-*) cp crates/skillfold-cli/apparmor.profile "$folder" ;; esac
    local subcommand
    run "$folder/$program" completions bash >"$folder/completions/skillfold.bash"
    run "$folder/$program" completions zsh >"$folder/completions/_skillfold"
    run "$folder/$program" completions fish >"$folder/completions/skillfold.fish"
    run "$folder/$program" completions powershell >"$folder/completions/_skillfold.ps1"
    run "$folder/$program" man >"$folder/man/skillfold.1"
    sed -n 's/^skillfold\\-\([a-z]*\)(1)$/\1/p' "$folder/man/skillfold.1" | while read -r subcommand; do
        run "$folder/$program" man "$subcommand" </dev/null >"$folder/man/skillfold-$subcommand.1"
    done
    [ -e "$folder/man/skillfold-list.1" ] || fail "the manual refers to no page of a subcommand"
}

# The same folder gives the same archive: names in order, one owner, the time of the last commit.
pack() {
    local tar=tar options=() time
    time="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
    case "$archive" in *.zip)
        python3 packaging/zip.py "$folder" "$archive" "$time"
        checksum
        return
        ;;
    esac
    if command -v gtar >/dev/null; then tar=gtar; fi
    case "$("$tar" --version)" in *GNU*)
        options=(--sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time")
        ;;
    esac
    "$tar" ${options[@]+"${options[@]}"} -C dist -cf - "$name" | gzip -9n >"$archive"
    checksum
}

checksum() {
    local file
    file="$(basename "$archive")"
    cd dist
    if command -v sha256sum >/dev/null; then sha256sum "$file"; else shasum -a 256 "$file"; fi >"$file.sha256"
    cd ..
}

expect_static() {
    local kind
    kind="$(file -b "$1")"
    echo "file: $kind"
    # For ARM, the compiler makes static programs at a fixed address alone.
    case "$target-$kind" in
        *"static-pie linked"* | aarch64-*"statically linked"*) ;;
        *) fail "the binary is not static and position-independent" ;;
    esac
    case "$kind" in *", stripped"*) ;; *) fail "the binary is not stripped" ;; esac
    if readelf --dynamic "$1" | grep NEEDED; then fail "the binary needs shared libraries"; fi
}

# Runs the command from the archive, in a home without settings, over the example skills.
try() {
    local command bytes packed listed greeting
    case "$archive" in
        *.zip) python3 -m zipfile -e "$archive" "$place" ;;
        *) tar -xzf "$archive" -C "$place" ;;
    esac
    command="$place/$name/$program"
    case "$target" in *-musl) expect_static "$command" ;; esac
    bytes="$(($(wc -c <"$command")))" packed="$(($(wc -c <"$archive")))"
    echo "size: $bytes bytes; archive: $packed bytes"
    if [ "$packed" -ge "$limit" ]; then fail "the archive has $packed bytes, the limit is $limit"; fi

    export HOME="$place/home" XDG_CONFIG_HOME="$place/config" XDG_CACHE_HOME="$place/cache" XDG_STATE_HOME="$place/state"
    mkdir "$HOME"
    run "$command" --version
    [ "$(run "$command" --version | tr -d '\r')" = "skillfold $version" ] || fail "the command has another version than $version"
    listed="$(run "$command" -C "$place" --root "$PWD/examples/skills" list)"
    echo "$listed"
    for skill in examples/skills/*/; do
        grep -q "^$(basename "$skill") " <<<"$listed" || fail "the skill $(basename "$skill") is not listed"
    done
    greeting='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"archive","version":"1"}}}'
    grep -q '"serverInfo"' <<<"$(echo "$greeting" | run "$command" -C "$place" --root "$PWD/examples/skills" serve)" \
        || fail "the server does not answer"
    echo "serve: answers over stdio"
}

build
fill_folder
pack
try
cat "$archive.sha256"
