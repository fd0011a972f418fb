#!/usr/bin/env bash
# Makes the image of the command for the architectures that are named, from the folders that packaging/archive.sh filled. Needs
# buildah, which works without a daemon.
#
#     packaging/image.sh x86_64-unknown-linux-musl aarch64-unknown-linux-musl
#
# Writes dist/skillfold-VERSION-image.tar, an OCI archive with an image for each, and its .sha256. The same commands give the same bytes.
# `skopeo copy --all oci-archive:dist/skillfold-VERSION-image.tar docker://REGISTRY/skillfold:VERSION` publishes it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh
if [ $# = 0 ]; then
    echo "usage: packaging/image.sh TARGET..." >&2
    exit 2
fi
version="$(workspace_field version)"
time="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
archive="skillfold-$version-image.tar"

place="$(mktemp -d)"
# Its storage is in this folder too, so nothing remains on the machine.
build=(buildah --root "$place/storage" --runroot "$place/running" --storage-driver vfs)
# The files in it belong to other users, for whom an ordinary one has to become their root.
remove=(rm -rf "$place")
if [ "$(id -u)" != 0 ]; then remove=("${build[@]}" unshare rm -rf "$place"); fi
trap '"${remove[@]}"' EXIT

for target in "$@"; do
    case "$target" in
        x86_64-*) architecture=amd64 ;;
        aarch64-*) architecture=arm64 ;;
        *) echo "error: no image is made for $target" >&2; exit 2 ;;
    esac
    folder="dist/skillfold-$version-$target"
    if [ ! -d "$folder" ]; then
        echo "error: $folder is missing; make it with packaging/archive.sh $target" >&2
        exit 1
    fi
    context="$place/$architecture"
    mkdir -p "$context/home" "$context/system/project" "$context/system/tmp"
    install -D -m 755 "$folder/skillfold" "$context/system/usr/local/bin/skillfold"
    install -D -m 644 -t "$context/system/usr/local/share/doc/skillfold" "$folder"/LICENSE-*
    # `skillfold doctor` tells by this file that it runs in the image.
    install -D -m 644 /dev/null "$context/system/usr/local/share/skillfold/image"
    mkdir "$context/system/etc"
    echo "user:x:65532:65532:user:/home/user:/sbin/nologin" >"$context/system/etc/passwd"
    echo "user:x:65532:" >"$context/system/etc/group"
    chmod 1777 "$context/system/tmp"
    "${build[@]}" build --quiet --platform "linux/$architecture" --timestamp "$time" --identity-label=false \
        --build-arg "VERSION=$version" --file packaging/Containerfile --manifest skillfold "$context"
done
"${build[@]}" manifest push --quiet --all skillfold "oci-archive:$place/image.tar"
# Buildah dates the entries of the archive with the time of the build.
mkdir "$place/layout"
tar -xf "$place/image.tar" -C "$place/layout"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" --mode=u=rwX,go=rX -C "$place/layout" -cf "dist/$archive" .
(cd dist && sha256sum "$archive" >"$archive.sha256")
ls -l "dist/$archive"
