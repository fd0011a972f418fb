#!/usr/bin/env bash
# Builds the archive of the last commit in another place, and compares it with the one in dist/, byte by byte.
#
#     packaging/reproduce.sh x86_64-unknown-linux-musl
#
# The other place is a clone with a home of cargo and a target folder of its own. Prints the first bytes that differ, and whether the
# binary or only its packing does.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh
target="${1:?usage: packaging/reproduce.sh TARGET}"
name="skillfold-$(workspace_field version)-$target"
archive="$(cd dist && ls "$name".tar.gz "$name".zip 2>/dev/null || true)"
if [ -z "$archive" ]; then
    echo "error: dist/ has no archive for $target; make it with packaging/archive.sh $target" >&2
    exit 1
fi

place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
git clone --quiet . "$place/another/folder"
CARGO_HOME="$place/cargo" CARGO_TARGET_DIR="$place/elsewhere" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    "$place/another/folder/packaging/archive.sh" "$target" >"$place/log" 2>&1 || { tail -20 "$place/log"; exit 1; }
other="$place/another/folder/dist"
if cmp "dist/$archive" "$other/$archive"; then
    echo "the same $(($(wc -c <"dist/$archive"))) bytes: $(sha256sum <"dist/$archive" | cut -d' ' -f1)"
    exit
fi
diff --recursive --brief "dist/$name" "$other/$name" || true
program=skillfold
case "$target" in *-windows-*) program=skillfold.exe ;; esac
# At most as many lines as a person reads.
cmp --verbose "dist/$name/$program" "$other/$name/$program" | sed -n 1,20p
exit 1
