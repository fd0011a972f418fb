#!/usr/bin/env bash
# Makes packages for Debian and Fedora of the static command that packaging/archive.sh built.
#
#     packaging/packages.sh x86_64-unknown-linux-musl
#
# Writes dist/skillfold_VERSION-1_ARCHITECTURE.deb and dist/skillfold-VERSION-1.ARCHITECTURE.rpm, and the .sha256 of each. The command
# is static, so they depend on nothing. Where AppArmor has to allow the sandbox, they install its profile. Needs dpkg-deb and rpmbuild.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/manifest.sh
source packaging/manifest.sh

target="${1:?usage: packaging/packages.sh TARGET}"
version="$(workspace_field version)"
description="$(workspace_field description)"
license="$(workspace_field license)"
maintainer="${MAINTAINER:-Skillfold maintainers}"
folder="dist/skillfold-$version-$target"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
case "$target" in
    x86_64-*-linux-*) debian=amd64 fedora=x86_64 ;;
    aarch64-*-linux-*) debian=arm64 fedora=aarch64 ;;
    *) echo "error: no packages are made for $target" >&2; exit 2 ;;
esac
if [ ! -d "$folder" ]; then
    echo "error: $folder is missing; make it with packaging/archive.sh $target" >&2
    exit 1
fi
# A candidate sorts before its release. The files have `-`, since GitHub puts a dot for `~` into the name of an asset.
package_version="${version//-/\~}"

place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT

# What both packages install, below a folder. The second is where their zsh looks for completions.
install_files() {
    local root="$1" zsh="$2" page
    install -D -m 755 "$folder/skillfold" "$root/usr/bin/skillfold"
    for page in "$folder"/man/*.1; do
        install -d "$root/usr/share/man/man1"
        gzip -9n <"$page" >"$root/usr/share/man/man1/$(basename "$page").gz"
    done
    install -D -m 644 "$folder/completions/skillfold.bash" "$root/usr/share/bash-completion/completions/skillfold"
    install -D -m 644 "$folder/completions/skillfold.fish" "$root/usr/share/fish/vendor_completions.d/skillfold.fish"
    install -D -m 644 "$folder/completions/_skillfold" "$root/usr/share/zsh/$zsh/_skillfold"
    install -D -m 644 "$folder/apparmor.profile" "$root/usr/share/skillfold/apparmor.profile"
    install -D -m 644 -t "$root/usr/share/doc/skillfold" "$folder/README.md" "$folder/CHANGELOG.md" "$folder/LICENSE-MIT" "$folder/LICENSE-APACHE"
    chmod -R u=rwX,go=rX "$root"
}

# Older versions of AppArmor cannot read the profile, and need none.
after_install='if [ -e /etc/apparmor.d/abi/4.0 ]; then
    cp /usr/share/skillfold/apparmor.profile /etc/apparmor.d/skillfold
    if command -v apparmor_parser >/dev/null; then apparmor_parser -r /etc/apparmor.d/skillfold || true; fi
fi'
after_removal='if [ -e /etc/apparmor.d/skillfold ]; then
    if command -v apparmor_parser >/dev/null; then apparmor_parser -R /etc/apparmor.d/skillfold || true; fi
    rm /etc/apparmor.d/skillfold
fi'

make_deb() {
    local root="$place/deb" file="skillfold_$version-1_$debian.deb"
    install_files "$root" vendor-completions
    {
        echo "License: $license"
        cat "$folder/LICENSE-MIT" "$folder/LICENSE-APACHE"
    } >"$root/usr/share/doc/skillfold/copyright"
    install -d "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: skillfold
Version: $package_version-1
Architecture: $debian
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Section: utils
Priority: optional
Description: $description
 A command, an MCP server and a hook that give an agent the skill that a request needs.
CONTROL
    # $1 is what dpkg does: an update removes nothing.
    printf '#!/bin/sh\nset -e\n%s\n' "$after_install" >"$root/DEBIAN/postinst"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nset -e\nif [ "$1" = upgrade ]; then exit 0; fi\n%s\n' "$after_removal" >"$root/DEBIAN/prerm"
    chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --build --root-owner-group -Zxz "$root" "dist/$file"
    (cd dist && sha256sum "$file" >"$file.sha256")
}

make_rpm() {
    local root="$place/rpm" file="skillfold-$version-1.$fedora.rpm"
    install_files "$root" site-functions
    {
        cat <<SPEC
Name: skillfold
Version: $package_version
Release: 1
Summary: $description
License: $license
%global _build_id_links none
%global __os_install_post %{nil}
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost localhost

%description
A command, an MCP server and a hook that give an agent the skill that a request needs.

%install
mkdir -p %{buildroot}
cp -a $root/. %{buildroot}

%post
$after_install

%preun
if [ "\$1" != 0 ]; then exit 0; fi
$after_removal

%files
SPEC
        (cd "$root" && find . -type f | LC_ALL=C sort | sed 's/^\.//; s/.*/"&"/')
    } >"$place/skillfold.spec"
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    rpmbuild -bb --quiet --nodeps --target "$fedora-linux" --define "_topdir $place/rpmbuild" --define "_rpmdir $place/rpms" \
        "$place/skillfold.spec"
    cp "$place/rpms/$fedora/skillfold-$package_version-1.$fedora.rpm" "dist/$file"
    (cd dist && sha256sum "$file" >"$file.sha256")
}

make_deb
make_rpm
ls -l dist/*.deb dist/*.rpm
