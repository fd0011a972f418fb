#!/usr/bin/env bash
# Prints the install script of a release, from the template and the public key that the release is signed with.
#
#     packaging/install_script.sh release.pub > install.sh
#
# The address of the repository is the variable REPOSITORY, or else the field `repository` in Cargo.toml. Needs openssl.
set -euo pipefail
key="$(realpath "${1:?usage: packaging/install_script.sh PUBLIC-KEY}")"
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh

version="$(workspace_field version)"
repository="${REPOSITORY:-$(workspace_field repository)}"
if ! [[ "$repository" =~ ^(https://|http://(127\.0\.0\.1|localhost)[:/])[A-Za-z0-9:/._~%+-]+$ ]]; then
    echo "error: the repository's address is no HTTPS address: \`$repository\`; set it in Cargo.toml, or set REPOSITORY" >&2
    exit 1
fi
# Printed again, without anything else that the file has.
if ! pem="$(openssl pkey -pubin -in "$key" 2>/dev/null)" || ! grep -q prime256v1 <<<"$(openssl pkey -pubin -in "$key" -noout -text)"; then
    echo "error: $key is no public key of ECDSA with P-256 in PEM" >&2
    exit 1
fi
script="$(<packaging/install.sh.in)"
script="${script//@REPOSITORY@/$repository}"
script="${script//@VERSION@/$version}"
printf '%s\n' "${script//@KEY@/$pem}"
