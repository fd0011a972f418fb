# Installs the packages that a script names in its inline metadata: wheels alone, with their hashes.
import compileall
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys

# Whoever runs a script with them reads them: root starts the installer as nobody.
os.umask(0o022)
script, uv, folder, wanted = sys.argv[1:]
lock, cache = os.path.join(folder, "lock.txt"), os.path.join(folder, "cache")
hashes, earlier = (os.path.join(os.path.dirname(script), name) for name in ("hashes.json", "earlier-lock"))


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


def compile_all(workers):
    """Compiles the packages, which no run could store. Without times and host paths, the same packages give the same files."""
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(target, ddir="/packages", quiet=2, workers=workers, invalidation_mode=unchecked)


def keep_named_hashes():
    """Keeps only the hashes that a requirements.txt has, of the packages it has some for."""
    named = {}
    with open(hashes, encoding="utf-8") as file:
        for name, hash in map(str.split, json.load(file)):
            named.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(hash)
    with open(lock, encoding="utf-8") as file:
        entries = re.split(r"\n(?=\S)", file.read().rstrip("\n"))
    with open(lock, "w", encoding="utf-8") as file:
        for entry in entries:
            package, *found = [line.rstrip("\\").strip() for line in entry.splitlines()]
            name = re.split(r"[^A-Za-z0-9._-]", package)[0]
            kept = named.get(re.sub(r"[-_.]+", "-", name).lower())
            if kept is not None:
                found = [line for line in found if line[len("--hash=") :] in kept]
                if not found:
                    sys.exit(f"no file of `{package}` has a hash that requirements.txt names")
            file.write(" \\\n    ".join([package, *found]) + "\n")


if not all(map(version_fits, wanted.split(","))):
    sys.exit(f"it needs Python {wanted}, and runs with {sys.version.split()[0]}")
if os.path.exists(earlier):
    shutil.copyfile(earlier, lock)
else:
    run("compile", script, "--generate-hashes", "--no-header", "--no-annotate", "--quiet", "--output-file", lock)
    if os.path.exists(hashes):
        keep_named_hashes()
target = os.path.join(folder, "packages")
run("install", "--require-hashes", "--no-deps", "--target", target, "--requirements", lock)
os.makedirs(target, exist_ok=True)
try:
    compile_all(workers=0)
except OSError:
    # A system without shared memory has no pool of workers.
    compile_all(workers=1)
shutil.rmtree(cache, ignore_errors=True)
with open(lock, encoding="utf-8") as file:
    names = re.findall(r"^([A-Za-z0-9._-]+) ?==([^\s;\\]+)", file.read(), re.MULTILINE)
json.dump([f"{name} {version}" for name, version in names], sys.stdout)
