# Installs the packages that a script names in its inline metadata: wheels alone, with their hashes.
import json
import os
import re
import shutil
import subprocess
import sys

script, uv, folder, wanted = sys.argv[1:]
lock, cache = os.path.join(folder, "lock.txt"), os.path.join(folder, "cache")


def version_fits(rule):
    """Returns whether this Python fits a rule such as `>=3.9`; one that is not understood is left to the script."""
    found = re.fullmatch(r"\s*(>=|<=|==|!=|~=|>|<)\s*(\d+(?:\.\d+)*)(?:\.\*)?\s*", rule)
    if not found:
        return True
    version = [int(part) for part in found[2].split(".")]
    own = list(sys.version_info[: len(version)])
    return {
        ">=": own >= version,
        "<=": own <= version,
        ">": own > version,
        "<": own < version,
        "==": own == version,
        "!=": own != version,
        "~=": own >= version and own[:-1] == version[:-1],
    }[found[1]]


def run(*words):
    done = subprocess.run(
        [uv, "pip", *words, "--python", sys.executable, "--no-build", "--no-config", "--cache-dir", cache],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    if done.returncode:
        sys.exit(done.returncode)


if not all(map(version_fits, wanted.split(","))):
    sys.exit(f"it needs Python {wanted}, and runs with {sys.version.split()[0]}")
run("compile", script, "--generate-hashes", "--no-header", "--no-annotate", "--quiet", "--output-file", lock)
target = os.path.join(folder, "packages")
run("install", "--require-hashes", "--no-deps", "--compile-bytecode", "--target", target, "--requirements", lock)
os.makedirs(target, exist_ok=True)
shutil.rmtree(cache, ignore_errors=True)
with open(lock, encoding="utf-8") as file:
    names = re.findall(r"^([A-Za-z0-9._-]+) ?==([^\s;\\]+)", file.read(), re.MULTILINE)
json.dump([f"{name} {version}" for name, version in names], sys.stdout)
