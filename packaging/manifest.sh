# shellcheck shell=bash
# Shared by the scripts of this folder: what the workspace's Cargo.toml says about the project.

# Prints a text field of [workspace.package], or nothing.
workspace_field() {
    sed -n "/^\[workspace\.package\]/,/^\[/s/^$1 = \"\(.*\)\"\$/\1/p" Cargo.toml
}
