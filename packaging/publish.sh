#!/usr/bin/env bash
# Publishes the release in dist/release, which packaging/sign.sh made, to one kind of registry. What is there already is left, so a
# call that failed half-way can be made again.
#
#     packaging/publish.sh crates           cargo; CRATES_REGISTRY names another registry of cargo's configuration than crates.io
#     packaging/publish.sh pypi             uv; UV_PUBLISH_URL and UV_PUBLISH_CHECK_URL name another index
#     packaging/publish.sh npm              npm; NPM_CONFIG_REGISTRY names another registry
#     packaging/publish.sh image NAME       skopeo and cosign: to NAME:VERSION, signed by COSIGN_PRIVATE_KEY
#     packaging/publish.sh apt FOLDER       reprepro: to a repository in a folder, for any web server, signed by the key APT_KEY of gpg
#     packaging/publish.sh files FOLDER     to FOLDER/vVERSION, for any web server
#
# Who may publish is up to each program: its login, its variables, or the identity of a workflow.
set -euo pipefail
shopt -s extglob nullglob
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh
version="$(workspace_field version)"
release="$PWD/dist/release"
(cd "$release" && sha256sum --check --strict --quiet SHA256SUMS)

crates() {
    local registry=(${CRATES_REGISTRY:+--registry "$CRATES_REGISTRY"}) there=() name
    for name in $(cargo metadata --no-deps --format-version 1 --locked | python3 -c '
import json, sys
print(*(package["name"] for package in json.load(sys.stdin)["packages"] if package["publish"] != []))'); do
        # Outside the workspace, where cargo would show the crate of this folder.
        if (cd / && cargo info --quiet "${registry[@]}" "$name@$version") >/dev/null 2>&1; then
            echo "there already: $name $version"
            there+=(--exclude "$name")
        fi
    done
    # Installing from the registry compiles them; packaging/release.py looked at what is in them.
    cargo publish --workspace --locked --no-verify "${registry[@]}" "${there[@]}"
}

# uv uploads the attestations that it is given; only a workflow can make them.
pypi() {
    uv publish "$release"/*.whl "$release"/skillfold-+([0-9a-z.]).tar.gz "$release"/*.publish.attestation
}

# Nobody gets a package before what it needs is there: those of the systems first, all of them, or `npm ci` fails for everybody.
npm_packages() {
    local archive name tag=latest main="$release/skillfold-$version.tgz"
    case "$version" in *-*) tag=next ;; esac
    for archive in "$release"/skillfold-*[a-z]-"$version".tgz; do publish_to_npm "$archive" "$tag"; done
    for name in $(npm_manifest "$main" | python3 -c 'import json, sys; print(*json.load(sys.stdin)["optionalDependencies"])'); do
        if ! npm view "$name@$version" version >/dev/null 2>&1; then
            echo "error: $name $version is neither in dist/release nor in the registry; packaging/npm.sh makes it" >&2
            exit 1
        fi
    done
    publish_to_npm "$main" "$tag"
    publish_to_npm "$release/create-skillfold-agent-$version.tgz" "$tag"
}

npm_manifest() {
    tar -xzOf "$1" package/package.json
}

publish_to_npm() {
    local name
    name="$(npm_manifest "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["name"])')"
    if npm view "$name@$version" version >/dev/null 2>&1; then
        echo "there already: $name $version"
    else
        npm publish --access public --tag "$2" "$1"
    fi
}

image() {
    local name="$1" digests
    digests="$(mktemp)"
    skopeo copy --quiet --all --digestfile "$digests" ${INSECURE_REGISTRY:+--dest-tls-verify=false} \
        "oci-archive:$release/skillfold-$version-image.tar" "docker://$name:$version"
    cosign sign --yes --key env://COSIGN_PRIVATE_KEY --tlog-upload=false --use-signing-config=false --recursive \
        ${INSECURE_REGISTRY:+--allow-http-registry} "$name@$(cat "$digests")"
    echo "published: $name:$version, $(cat "$digests")"
    rm "$digests"
}

apt() {
    mkdir -p "$1/conf"
    cat >"$1/conf/distributions" <<CONF
Origin: Skillfold
Label: Skillfold
Codename: stable
Architectures: amd64 arm64
Components: main
Description: $(workspace_field description)
SignWith: ${APT_KEY:?the fingerprint of the key of the repository}
CONF
    local package
    for package in "$release"/*.deb; do reprepro --silent --basedir "$1" includedeb stable "$package"; done
    gpg --export "$APT_KEY" >"$1/skillfold.gpg"
    reprepro --basedir "$1" list stable
}

files() {
    if [ -e "$1/v$version" ]; then
        diff --recursive "$release" "$1/v$version"
        echo "there already: $1/v$version"
    else
        mkdir -p "$1"
        cp -r "$release" "$1/v$version.new"
        mv "$1/v$version.new" "$1/v$version"
    fi
}

case "${1:-}" in
    crates | pypi) "$1" ;;
    npm) npm_packages ;;
    image | apt | files) "$1" "${2:?usage: packaging/publish.sh $1 PLACE}" ;;
    *)
        echo "usage: packaging/publish.sh crates|pypi|npm|image NAME|apt FOLDER|files FOLDER" >&2
        exit 2
        ;;
esac
