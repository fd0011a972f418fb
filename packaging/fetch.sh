#!/usr/bin/env bash
# Downloads the release of this checkout's version into dist/release, for packaging/publish.sh, and checks that packaging/release.pub
# signed it and that it is whole.
#
#     packaging/fetch.sh https://github.com/OWNER/NAME/releases/download/v1.2.3
#
# The address may be any folder with the files that packaging/sign.sh made. Needs curl and openssl.
set -euo pipefail
address="${1:?usage: packaging/fetch.sh ADDRESS}"
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh
version="$(workspace_field version)"
release=dist/release
rm -rf "$release"
mkdir -p "$release"

fail() {
    echo "error: $*" >&2
    rm -rf "$release"
    exit 1
}

get() {
    curl --fail --silent --show-error --location --retry 3 --output "$release/$1" "$address/$1" || fail "cannot download $address/$1"
}

for file in SHA256SUMS SHA256SUMS.sig SHA256SUMS.sigstore.json SHA256SUMS.provenance.sigstore.json; do get "$file"; done
openssl base64 -d -A -in "$release/SHA256SUMS.sig" -out dist/signature || fail "$address/SHA256SUMS.sig is no signature"
openssl dgst -sha256 -verify packaging/release.pub -signature dist/signature "$release/SHA256SUMS" \
    || fail "packaging/release.pub did not sign $address/SHA256SUMS"
rm dist/signature
# The key signs every release.
grep -q "  skillfold-plugins-$version\.tar\.gz$" "$release/SHA256SUMS" || fail "$address has another version than $version"
while read -r _ file; do get "$file"; done <"$release/SHA256SUMS"
(cd "$release" && sha256sum --check --strict --quiet SHA256SUMS) || fail "$address has other files than were signed"
echo "fetched: $version, $(find "$release" -type f | wc -l) files"
