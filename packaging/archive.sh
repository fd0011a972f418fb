#!/usr/bin/env bash
# Builds the command for a target and packs it: binary, licences, README, manual pages, completions and AppArmor's profile, with
# a checksum.
#
#     packaging/archive.sh x86_64-unknown-linux-musl
#
# Writes dist/skillfold-VERSION-TARGET.tar.gz, its .sha256, and the unpacked folder. Then unpacks the archive somewhere else
# and runs the command, so the target must be one that this machine can run. A binary for musl must come out static and
# position-independent. Needs rustup, and a C compiler as a linker and for `ring`, whose C code uses no C library.
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
program=skillfold
case "$target" in *-windows-*) program=skillfold.exe ;; esac

place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT

fail() {
    echo "error: $*" >&2
    exit 1
}

build() {
    rustup target add "$target"
    # Panic messages name source files; without this, those of crates and of the standard library would be named by their
    # path on the machine that builds.
    local crates="${CARGO_HOME:-$HOME/.cargo}/registry/src" std commit
    std="$(rustc --print sysroot)/lib/rustlib/src/rust"
    commit="$(rustc -vV | sed -n 's/^commit-hash: //p')"
    export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$crates=registry"$'\x1f'"--remap-path-prefix=$std=/rustc/$commit"
    case "$target" in *-linux-musl) export "CC_${target//-/_}=${CC:-cc}" ;; esac
    cargo build --locked --release --package skillfold-cli --target "$target"
}

# The manual has a page for the command and one for each subcommand that this page refers to.
fill_folder() {
    rm -rf dist/skillfold-*-"$target"*
    mkdir -p "$folder/completions" "$folder/man"
    cp "${CARGO_TARGET_DIR:-target}/$target/release/$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder"
    case "$target" in *-linux-*) cp crates/skillfold-cli/apparmor.profile "$folder" ;; esac
    local command="$folder/$program" subcommand
    "$command" completions bash >"$folder/completions/skillfold.bash"
    "$command" completions zsh >"$folder/completions/_skillfold"
    "$command" completions fish >"$folder/completions/skillfold.fish"
    "$command" completions powershell >"$folder/completions/_skillfold.ps1"
    "$command" man >"$folder/man/skillfold.1"
    sed -n 's/^skillfold\\-\([a-z]*\)(1)$/\1/p' "$folder/man/skillfold.1" | while read -r subcommand; do
        "$command" man "$subcommand" >"$folder/man/skillfold-$subcommand.1"
    done
    [ -e "$folder/man/skillfold-list.1" ] || fail "the manual refers to no page of a subcommand"
}

# The same folder gives the same archive: names in order, one owner, the time of the last commit.
pack() {
    local tar=tar options=()
    if command -v gtar >/dev/null; then tar=gtar; fi
    case "$("$tar" --version)" in *GNU*)
        options=(--sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}")
        ;;
    esac
    "$tar" ${options[@]+"${options[@]}"} -C dist -cf - "$name" | gzip -9n >"$folder.tar.gz"
    cd dist
    if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi \
        >"$name.tar.gz.sha256"
    cd ..
}

expect_static() {
    local kind
    kind="$(file -b "$1")"
    echo "file: $kind"
    case "$kind" in *"static-pie linked"*) ;; *) fail "the binary is not static and position-independent" ;; esac
    case "$kind" in *", stripped"*) ;; *) fail "the binary is not stripped" ;; esac
    # Names no library, with words that differ between systems.
    echo "ldd: $(ldd "$1" 2>&1 | xargs)"
    if ldd "$1" 2>/dev/null | grep '=>'; then fail "the binary needs shared libraries"; fi
}

# Runs the command from the archive, in a home without settings, over the example skills.
try() {
    local command bytes listed greeting
    tar -xzf "$folder.tar.gz" -C "$place"
    command="$place/$name/$program"
    case "$target" in *-musl) expect_static "$command" ;; esac
    bytes="$(($(wc -c <"$command")))"
    echo "size: $bytes bytes; archive: $(($(wc -c <"$folder.tar.gz"))) bytes"
    if [ "$bytes" -ge "$limit" ]; then fail "the binary has $bytes bytes, the limit is $limit"; fi

    export HOME="$place/home" XDG_CONFIG_HOME="$place/config" XDG_CACHE_HOME="$place/cache" XDG_STATE_HOME="$place/state"
    mkdir "$HOME"
    "$command" --version
    [ "$("$command" --version)" = "skillfold $version" ] || fail "the command has another version than $version"
    listed="$("$command" -C "$place" --root "$PWD/examples/skills" list)"
    echo "$listed"
    for skill in examples/skills/*/; do
        grep -q "^$(basename "$skill") " <<<"$listed" || fail "the skill $(basename "$skill") is not listed"
    done
    greeting='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"archive","version":"1"}}}'
    grep -q '"serverInfo"' <<<"$(echo "$greeting" | "$command" -C "$place" --root "$PWD/examples/skills" serve)" \
        || fail "the server does not answer"
    echo "serve: answers over stdio"
}

build
fill_folder
pack
try
cat "$folder.tar.gz.sha256"
