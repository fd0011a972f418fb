#!/usr/bin/env bash
# Collects all that a release has in dist/release, and signs it.
#
#     COSIGN_PRIVATE_KEY="$(cat release.key)" COSIGN_PASSWORD=… packaging/sign.sh
#
# Writes there, beside the artifacts:
#
#     install.sh                        the install script, for this version and this key alone
#     SHA256SUMS                        the checksum of each file
#     SHA256SUMS.sig                    the signature of these, for openssl and cosign (ECDSA P-256 over SHA-256, in Base64)
#     SHA256SUMS.sigstore.json          the same as a bundle of Sigstore
#     SHA256SUMS.provenance.sigstore.json    where they come from, signed
#
# Needs cosign 3. The key must be that of packaging/release.pub: what is installed trusts no other.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh
version="$(workspace_field version)"
release=dist/release

key=env://COSIGN_PRIVATE_KEY
if ! cosign public-key --key "$key" | cmp --silent - packaging/release.pub; then
    echo "error: the key is not that of packaging/release.pub" >&2
    echo "hint: for the first release, \`cosign generate-key-pair\`, and commit cosign.pub as packaging/release.pub" >&2
    exit 1
fi

rm -rf "$release"
mkdir -p "$release"
python3 packaging/plugins/generate.py dist/plugins
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" \
    --transform "s|^\.|skillfold-plugins-$version|" -C dist/plugins -cf - . | gzip -9n >"$release/skillfold-plugins-$version.tar.gz"
rm -r dist/plugins
for file in dist/*.tar.gz dist/*.zip dist/*.deb dist/*.rpm dist/*.tar dist/*.cdx.json dist/wheels/* dist/npm/*.tgz; do
    if [ ! -e "$file" ]; then
        echo "left out: there is no $file"
        continue
    fi
    cp -p "$file" "$release"
done
packaging/install_script.sh packaging/release.pub >"$release/install.sh"
packaging/provenance.py >"$release/provenance.json"

cd "$release"
sha256sum -- * | LC_ALL=C sort -k2 >../SHA256SUMS
mv ../SHA256SUMS .
# Nothing is uploaded: a log of signatures would need an account, and the key is known.
offline=(--yes --key "$key" --tlog-upload=false --use-signing-config=false)
cosign sign-blob "${offline[@]}" --bundle SHA256SUMS.sigstore.json SHA256SUMS >/dev/null
python3 -c 'import json, sys; print(json.load(sys.stdin)["messageSignature"]["signature"])' <SHA256SUMS.sigstore.json >SHA256SUMS.sig
cosign attest-blob "${offline[@]}" --type slsaprovenance1 --predicate provenance.json --bundle SHA256SUMS.provenance.sigstore.json \
    SHA256SUMS >/dev/null
chmod 644 -- *
ls -l
