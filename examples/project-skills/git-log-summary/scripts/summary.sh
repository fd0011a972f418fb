#!/bin/sh
# Summarizes the history of the repository in the working folder.
set -eu
# The sandbox has a user of its own, so Git would not trust the folder.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
range="${1:--20}"
echo "Commits:"
git log --no-decorate --date=short --format='%h %ad %an: %s' "$range"
echo "Authors:"
git log --format='%an' "$range" | sort | uniq -c | sort -rn
echo "Files that changed most:"
git log --format= --name-only "$range" | sed '/^$/d' | sort | uniq -c | sort -rn | head -10
