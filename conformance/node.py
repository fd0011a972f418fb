"""Node and packages of npm, in a folder of their own."""

import os
import subprocess
import sys

NODE = "node@24.21.0"


def install(folder, packages):
    """Installs node and packages, unless they are there. Returns the program node and the folder of the packages."""
    modules = folder / "node_modules"
    stamp = folder / "installed"
    wanted = f"{NODE} {' '.join(packages)}\n"
    if not stamp.exists() or stamp.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        command = ["npm", "install", "--silent", "--no-fund", "--no-audit"]
        subprocess.run([*command, NODE], cwd=folder, check=True)
        # Packages look at the version of node that installs them.
        subprocess.run([*command, NODE, *packages], cwd=folder, check=True, env=with_node(program(modules)))
        stamp.write_text(wanted)
    return program(modules), modules


def program(modules):
    """Returns the program node: npm's package `node` brings one package with it for each system."""
    places = [modules / "node" / "bin" / "node", *modules.glob("node-*/bin/node"), *modules.glob("node/node_modules/node-*/bin/node")]
    node = next((place for place in places if place.exists()), None)
    if node is None:
        sys.exit("error: npm's package `node` brought no program")
    return node


def with_node(node, **more):
    """Returns the environment with a program node before all others."""
    return {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}", **more}
