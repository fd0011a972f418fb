#!/usr/bin/env bash
# Writes the bill of materials of the command, dist/skillfold.cdx.json: every crate that cargo links into it on any target,
# with version, licence and checksum, in the CycloneDX format. Needs cargo-cyclonedx.
set -euo pipefail
cd "$(dirname "$0")/.."
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT

# In a copy without the benchmarks, which switch on features of our crates; the tool writes a file beside every manifest.
cp -r Cargo.toml Cargo.lock README.md LICENSE-* crates "$place"
sed -i.old 's|^members = .*|members = ["crates/*"]|' "$place/Cargo.toml"
cd "$place"
cargo cyclonedx --quiet --manifest-path crates/skillfold-cli/Cargo.toml --target all --no-build-deps \
    --format json --spec-version 1.5 --override-filename skillfold.cdx
cd "$OLDPWD"
mkdir -p dist
cp "$place/crates/skillfold-cli/skillfold.cdx.json" dist/
