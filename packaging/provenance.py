#!/usr/bin/env python3
"""Prints where the artifacts of a release come from, as the predicate of SLSA's provenance 1.

    packaging/provenance.py >provenance.json

packaging/sign.sh signs it together with the checksums. The address of the repository is the variable REPOSITORY, or else the field
`repository` in Cargo.toml; who builds is the variable BUILDER, such as the address of a workflow, or else `local`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).parents[1]
package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
repository = os.environ.get("REPOSITORY") or package.get("repository")
if not repository:
    sys.exit("error: Cargo.toml has no `repository`; set it there, or set REPOSITORY")


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


source = f"git+{repository}@refs/tags/v{package['version']}"
compiler = dict(line.split(": ") for line in output("rustc", "-vV").splitlines() if ": " in line)
json.dump(
    {
        "buildDefinition": {
            "buildType": f"{repository}/blob/v{package['version']}/docs/release.md",
            "externalParameters": {"source": source},
            "internalParameters": {"compiler": f"rustc {compiler['release']}", "sourceDateEpoch": output("git", "log", "-1", "--format=%ct")},
            "resolvedDependencies": [{"uri": source, "digest": {"gitCommit": output("git", "rev-parse", "HEAD")}}],
        },
        "runDetails": {"builder": {"id": os.environ.get("BUILDER", "local")}},
    },
    sys.stdout,
    indent=2,
)
print()
