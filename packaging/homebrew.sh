#!/usr/bin/env bash
# Prints the Homebrew formula of a release, from the template and a file with the checksums of its archives.
#
#     packaging/homebrew.sh dist/SHA256SUMS > skillfold.rb
#
# The address of the repository is the variable REPOSITORY, or else the field `repository` in Cargo.toml.
set -euo pipefail
sums="$(realpath "${1:?usage: packaging/homebrew.sh SUMS}")"
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh

version="$(workspace_field version)"
repository="${REPOSITORY:-$(workspace_field repository)}"
if [ -z "$repository" ]; then
    echo "error: Cargo.toml has no \`repository\`; set it there, or set REPOSITORY" >&2
    exit 1
fi
formula="$(sed -e "s|@REPOSITORY@|$repository|g" -e "s|@VERSION@|$version|g" packaging/homebrew.rb.in)"
while read -r sum file; do
    target="${file#skillfold-"$version"-}"
    formula="${formula//@"${target%.tar.gz}"@/$sum}"
done <"$sums"
if grep -n '"@.*@"' <<<"$formula" >&2; then
    echo "error: $sums has no checksum for the lines above" >&2
    exit 1
fi
echo "$formula"
