"""Counts the lines of code in the `src` folders of the crates at some commits: no comments, blank lines or tests.

Usage: lines.py COMMIT...
"""

import collections
import re
import subprocess
import sys


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def count(commit):
    lines = collections.Counter()
    for path in git("ls-tree", "-r", "--name-only", commit, "crates").splitlines():
        match = re.fullmatch(r"crates/([^/]+)/src/.*\.rs", path)
        if match and "/tests/" not in path and not path.endswith("/tests.rs"):
            code = git("show", f"{commit}:{path}").split("#[cfg(test)]\nmod tests {")[0]
            stripped = (line.strip() for line in code.splitlines())
            lines[match[1]] += sum(bool(line) and not line.startswith("//") for line in stripped)
    return lines


counts = [count(commit) for commit in sys.argv[1:]]
for crate in sorted(set().union(*counts)):
    print(f"{crate:20}", *(f"{lines[crate]:8}" for lines in counts))
print(f"{'all':20}", *(f"{sum(lines.values()):8}" for lines in counts))
