#!/usr/bin/env bash
# Unpacks the archives of dist/ beside them, as the folders that packaging/archive.sh filled, which the scripts for packages, the
# image, wheels and npm read. On the forge, other machines made the archives.
#
#     packaging/unpack.sh
set -euo pipefail
cd "$(dirname "$0")/../dist"
sums=(sha256sum)
if command -v shasum >/dev/null; then sums=(shasum --algorithm 256); fi

for archive in skillfold-*.tar.gz skillfold-*.zip; do
    if [ ! -e "$archive" ]; then continue; fi
    "${sums[@]}" --check --strict "$archive.sha256"
    case "$archive" in
        *.zip)
            rm -rf "${archive%.zip}"
            python3 -m zipfile -e "$archive" .
            ;;
        *)
            rm -rf "${archive%.tar.gz}"
            tar -xzf "$archive"
            ;;
    esac
done
