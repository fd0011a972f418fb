"""The ways to install: each publishes to a registry, installs from it in a clean system as the pages say, and is used there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from clean_root import CleanRoot, Failed, Person
from registries import Crates, Files, Images, Ktra, Npm, Pypi

ROOT = Path(__file__).parents[2]
# Many folders have a `run.py`.
specification = importlib.util.spec_from_file_location("readme", ROOT / "conformance/readme/run.py")
readme = importlib.util.module_from_spec(specification)
specification.loader.exec_module(readme)


# What `skillfold doctor` says.
SAID = {
    "crates": "installed by cargo",
    "pypi": "installed by uv",
    "npm": "installed by npm",
    "image": "part of a container image",
    "apt": "installed by dpkg",
    "script": "installed by the install script",
}


@dataclass
class Release:
    """What is published: a checkout with dist/release, and where the tools are."""

    source: Path
    version: str
    tools: Path
    base: Path
    keys: dict[str, str]

    @property
    def files(self) -> Path:
        return self.source / "dist/release"

    def publish(self, *words: object, **variables: str) -> str:
        """Run packaging/publish.sh, twice: the second time everything is there already."""
        environment = os.environ | self.keys | variables
        command = [self.source / "packaging/publish.sh", *map(str, words)]
        for _ in range(2):
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Failed(f"publish.sh {' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
        return done.stdout


@dataclass
class Row:
    """How one way went."""

    way: str
    seconds: dict[str, float] = field(default_factory=dict)
    downloaded: int = 0
    version: str = ""
    doctor: str = ""
    failed: str = ""


class Timer:
    """Notes how long a part of a way took."""

    def __init__(self, row: Row, part: str) -> None:
        self.row, self.part = row, part

    def __enter__(self) -> None:
        self.start = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.row.seconds[self.part] = time.monotonic() - self.start


def printed(page: str, heading: str) -> str:
    """Return the first commands below a heading of a page, as they are printed."""
    text = (ROOT / page).read_text()
    found = re.search(rf"^## {re.escape(heading)}\n.*?^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise Failed(f"{page} has no commands below `{heading}`")
    return found[1]


def readme_line(start: str) -> str:
    """Return the line of the README's installation that begins with some words."""
    return next(line for line in printed("README.md", "Install").splitlines() if line.startswith(start))


def example(language: str) -> str:
    """Return the README's program in a language."""
    [program] = readme.blocks(language)
    return program


def use(root: CleanRoot, row: Row, prefix: str = "") -> None:
    """Do the README's first five minutes: its sessions as printed, a client, its end; and ask how it was installed."""
    with Timer(row, "README"):
        person = Person(root, prefix)
        readme.sessions(person)
        root.must("mkdir -p .codex")
        person.type("skillfold setup codex --yes")
        if "skillfold" not in root.must("cat .codex/config.toml"):
            raise Failed("`skillfold setup codex` left no server in its configuration")
        person.type("skillfold setup codex --undo --yes")
    row.version = root.must("skillfold --version").strip()
    how_installed(row, person.type("skillfold doctor", check=False))


def how_installed(row: Row, doctor: str) -> None:
    """Note what `skillfold doctor` says about how it was installed, which has to be this way."""
    [row.doctor] = re.findall(r"^\s+(.*; to update, .*)$", doctor, re.MULTILINE) or ["nothing"]
    if not row.doctor.startswith(SAID[row.way]):
        raise Failed(f"`skillfold doctor` says `{row.doctor}`, not `{SAID[row.way]}`")


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def publish_crates(release: Release, ktra: Ktra, registry: Crates) -> None:
    release.publish("crates", CRATES_REGISTRY="rehearsal", CARGO_HOME=str(registry.home()), CARGO_REGISTRIES_REHEARSAL_TOKEN=ktra.token())


def crates(release: Release, row: Row) -> None:
    """Crates, in a registry that is the public one for cargo. Only here there is a compiler."""
    cargo_home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=release.source, check=True)
    with Ktra(release.tools / "bin/ktra") as ktra, Crates(ktra, cargo_home) as registry:
        with Timer(row, "publish"):
            publish_crates(release, ktra, registry)
        row.downloaded = size(ktra.folder / "crates")
        sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True, cwd=release.source)
        with CleanRoot(release.base, [registry.port]) as root:
            root.lend(Path(sysroot.stdout.strip()), "/opt/rust")
            root.must(f"mkdir -p .cargo && echo {shell_words(registry.configuration())} >.cargo/config.toml")
            rust = {"LD_LIBRARY_PATH": "/opt/rust/lib", "CARGO_TERM_COLOR": "never"}
            rust |= {name: value for name, value in os.environ.items() if name.startswith("CARGO_PROFILE_")}
            with Timer(row, "install"):
                root.must(f"PATH=/opt/rust/bin:$PATH {readme_line('cargo install')}", **rust)
            use(root, row)
            with Timer(row, "program"):
                root.must("PATH=/opt/rust/bin:$PATH; cargo init --quiet --name trial try && cd try && cargo add --quiet skillfold", **rust)
                program = "fn main() -> Result<(), skillfold::Error> {\n" + example("rust").replace("# Ok::<(), skillfold::Error>(())", "Ok(())") + "}\n"
                (root.root / "home/user/try/src/main.rs").write_text(program)
                root.must("PATH=/opt/rust/bin:$PATH; cd try && cargo run --quiet", **rust)
            root.must("PATH=/opt/rust/bin:$PATH; cargo uninstall --quiet skillfold-cli; test ! -e .cargo/bin/skillfold", **rust)


def pypi(release: Release, row: Row) -> None:
    """The wheel, by uv and by pip."""
    with Pypi(release.tools / "bin/python") as registry:
        with Timer(row, "publish"):
            login = {"UV_PUBLISH_USERNAME": "rehearsal", "UV_PUBLISH_PASSWORD": "rehearsal"}
            release.publish("pypi", UV_PUBLISH_URL=registry.url, UV_PUBLISH_CHECK_URL=f"{registry.url}/simple/", **login)
        [wheel] = release.files.glob("*manylinux*x86_64.whl")
        row.downloaded = wheel.stat().st_size
        with CleanRoot(release.base, [registry.port]) as root:
            root.lend(release.tools / "bin/uv", "/usr/local/bin/uv")
            index = {"UV_DEFAULT_INDEX": f"{registry.url}/simple/", "PIP_INDEX_URL": f"{registry.url}/simple/"}
            with Timer(row, "install"):
                root.must(readme_line("uv tool install"), **index)
            use(root, row)
            with Timer(row, "program"):
                root.must("python3 -m venv try && try/bin/pip install --quiet skillfold", **index)
                (root.root / "home/user/example.py").write_text(example("python"))
                root.must("try/bin/python example.py && try/bin/skillfold --version")
            root.must("uv tool uninstall skillfold && test ! -e .local/bin/skillfold")


def publish_npm(release: Release, registry: Npm) -> None:
    """Publish the packages; those for systems that cannot be built here have nothing in them."""
    settings = registry.folder / "npmrc"
    settings.write_text(f"registry={registry.url}\n//{registry.host}/:_authToken={registry.token()}\nupdate-notifier=false\n")
    with tarfile.open(release.files / f"skillfold-{release.version}.tgz") as archive:
        wanted = json.load(archive.extractfile("package/package.json"))["optionalDependencies"]
    for name in wanted:
        if not (release.files / f"{name.removeprefix('@').replace('/', '-')}-{release.version}.tgz").exists():
            empty = registry.folder / name
            empty.mkdir(parents=True)
            _, system, processor, *_ = re.split("[/-]", name)
            (empty / "package.json").write_text(json.dumps({"name": name, "version": release.version, "os": [system], "cpu": [processor]}))
            words = ["npm", "publish", "--access=public", f"--userconfig={settings}", empty]
            subprocess.run(words, check=True, capture_output=True)
    release.publish("npm", NPM_CONFIG_USERCONFIG=str(settings))


def npm(release: Release, row: Row) -> None:
    """The packages for npm, on a Node 24."""
    node = release.tools / "npm/node_modules/node/bin/node"
    with Npm(node, release.tools / "npm/node_modules") as registry:
        with Timer(row, "publish"):
            publish_npm(release, registry)
        [main, *_], [platform] = release.files.glob("skillfold-[0-9]*.tgz"), release.files.glob("*linux-x64-gnu*.tgz")
        row.downloaded = main.stat().st_size + platform.stat().st_size
        with CleanRoot(release.base, [registry.port]) as root:
            root.lend(node, "/usr/local/bin/node")
            root.lend(release.tools / "npm/node_modules/npm", "/usr/local/lib/npm")
            root.must("cd /usr/local/bin && ln -s ../lib/npm/bin/npm-cli.js npm && ln -s ../lib/npm/bin/npx-cli.js npx", user="root")
            there = {"NPM_CONFIG_REGISTRY": registry.url, "NPM_CONFIG_PREFIX": "/home/user/.local", "NPM_CONFIG_UPDATE_NOTIFIER": "false"}
            with Timer(row, "install"):
                root.must(readme_line("npm install"), **there)
            use(root, row)
            with Timer(row, "program"):
                root.must("mkdir try && cd try && npm init --yes >/dev/null && npm install skillfold", **there)
                (root.root / "home/user/try/example.mts").write_text(example("ts"))
                root.must("cd try && node example.mts && npx skillfold --version", **there)
            root.must("npm uninstall --global skillfold && test ! -e .local/bin/skillfold", **there)


def image(release: Release, row: Row) -> None:
    """The image: pulled by podman by its digest, with the signature checked, and run as an MCP server and as a command."""
    with Images() as registry:
        name = f"{registry.host}/skillfold"
        with Timer(row, "publish"):
            said = release.publish("image", name, INSECURE_REGISTRY="yes")
        digest = re.search(r"sha256:[0-9a-f]{64}", said)[0]
        row.downloaded = size(registry.folder / "storage")
        verify = ["cosign", "verify", "--key", release.source / "packaging/release.pub", "--insecure-ignore-tlog", "--allow-http-registry"]
        subprocess.run([*verify, f"{name}@{digest}"], check=True, capture_output=True)
        project = registry.folder / "project"
        shell = f'image={name}:{release.version}\n' + printed("docs/install.md", "As a container").split("\n", 1)[1]
        storage = f"--root={registry.folder}/podman --runroot={registry.folder}/running --storage-driver=vfs"
        options = "--network=none --ulimit=nofile=1024:1024 --ulimit=nproc=1024:1024"
        (project / ".agents/skills/greet").mkdir(parents=True)
        (project / ".agents/skills/greet/SKILL.md").write_text("---\nname: greet\ndescription: Greets people\n---\nSay hello.\n")

        def podman(command: str, **given: str) -> str:
            command = command.replace("podman run", f"podman --cgroup-manager=cgroupfs --runtime=runc {storage} run {options}")
            done = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False, **given)
            if done.returncode:
                raise Failed(f"{command}:\n{done.stdout}{done.stderr}")
            return done.stdout

        with Timer(row, "install"):
            podman(f"podman {storage} pull --quiet --tls-verify=false {name}@{digest}; podman {storage} tag {name}@{digest} {name}:{release.version}")
        with Timer(row, "README"):
            if "greet" not in podman(shell):
                raise Failed("`podman run … list` does not list the skill of the project")
            start = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}'
            answer = podman(shell.replace("--rm", "--rm -i").replace(' list', ""), input=f"{start}\n")
            if '"serverInfo"' not in answer:
                raise Failed(f"the server in the image answers {answer!r}")
        row.version = podman(shell.replace(" list", " --version")).strip()
        how_installed(row, podman(shell.replace(" list", " doctor")))
        podman(f"podman {storage} rmi --force {name}:{release.version}; podman {storage} unshare true || true")


def apt(release: Release, row: Row) -> None:
    """The package for Debian, from a repository that is signed."""
    repository = release.source.parent / "apt"
    with Timer(row, "publish"):
        release.publish("apt", repository)
    with Files({"apt": repository}) as registry, CleanRoot(release.base, [registry.port]) as root:
        [package] = release.files.glob("*_amd64.deb")
        row.downloaded = package.stat().st_size
        root.must("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*", user="root")
        commands = f"repository={registry.url}/apt\n" + printed("docs/install.md", "With apt").split("\n", 1)[1]
        with Timer(row, "install"):
            root.must(f"set -e\n{commands}", user="root")
        use(root, row)
        root.must("man -w skillfold && test -e /usr/share/bash-completion/completions/skillfold")
        root.must("apt-get remove --yes skillfold && test ! -e /usr/bin/skillfold", user="root")


def script(release: Release, row: Row) -> None:
    """The install script, from a folder of files."""
    place = release.source.parent / "files"
    with Timer(row, "publish"):
        release.publish("files", place)
    with Files({"files": place}) as registry, CleanRoot(release.base, [registry.port]) as root:
        [archive] = release.files.glob("*x86_64-unknown-linux-musl.tar.gz")
        row.downloaded = archive.stat().st_size
        address = f"{registry.url}/files/v{release.version}"
        commands = f"release={address}\n" + printed("docs/install.md", "With the install script").split("\n", 1)[1]
        with Timer(row, "install"):
            root.must(f"set -e\n{commands}", INSTALL_SKILLFOLD_FROM=address)
        use(root, row)
        root.must("sh install.sh --uninstall && test ! -e .local/bin/skillfold")


def shell_words(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


WAYS = {"crates": crates, "pypi": pypi, "npm": npm, "image": image, "apt": apt, "script": script}
