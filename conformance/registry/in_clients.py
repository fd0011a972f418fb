"""What we install is what unmodified clients and installers use, and the other way round, with the same bytes.

Claude Code and Codex talk with a scripted model, `npx skills` and `npx plugins` install beside us, and plugins come from a real
marketplace. `skills_lock.py` has the part about the lock files of `npx skills`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
from pathlib import Path

import repositories
import skills_lock
from checks import Checks
from foreign import Foreign, foreign, seen_texts
from machine import SKILLS, Machine, digest, files_in, installed
from repositories import Repository
from servers import Authority, GitHttp

PLUGIN = "plugin-0"


class Ground:
    """Repositories of skills, of a marketplace and of a plugin on a server, programs of others, and new machines."""

    def __init__(self, stack: contextlib.ExitStack, folder: Path, binary: Path, programs: Foreign) -> None:
        self.folder, self.binary, self.programs, self.numbers = folder, binary, programs, itertools.count(1)
        root = folder / "repositories"
        self.authority = stack.enter_context(Authority())
        self.http = stack.enter_context(GitHttp(root, authority=self.authority))
        # `npx skills` keeps a lock for the user only if the path has two parts.
        self.skills = repositories.skills_repository(root / "team/skills.git", 3)
        self.market = repositories.marketplace_repository(root / "market.git", 1, self.url(self.skills))
        self.plugin = repositories.agent_plugin_repository(root / "plugin.git", 2)

    def url(self, repository: Repository) -> str:
        return self.http.secure_url(repository.path.relative_to(self.http.root).as_posix().removesuffix(".git"))

    def machine(self) -> Machine:
        trusted = self.authority.environment()
        names = ("GIT_SSL_CAINFO", "SSL_CERT_FILE")
        return Machine(self.folder / f"machine-{next(self.numbers)}", self.binary, **{name: trusted[name] for name in names})

    def author(self, repository: Repository, name: str, tag: str | None = None) -> dict[str, bytes]:
        """Return the files of a skill as its author wrote them."""
        tag = tag or list(repository.tags)[-1]
        folder = repository.skills(tag)[name] + "/"
        return {path.removeprefix(folder): content for path, content in repository.files[tag].items() if path.startswith(folder)}


def run(checks: Checks, binary: Path, folder: Path) -> None:
    programs = foreign(checks, folder)
    if programs is None:
        return
    with contextlib.ExitStack() as stack:
        ground = Ground(stack, folder, binary, programs)
        for check in (ours_in_clients, theirs_in_ours, marketplaces, elsewhere, plugins, *skills_lock.CHECKS):
            check(checks, ground)


def body(text: bytes) -> str:
    """Return the instructions of a `SKILL.md`."""
    return text.decode().split("---\n", 2)[2].strip()


def ours_in_clients(checks: Checks, ground: Ground) -> None:
    """Both clients name what we installed, and their models read it as the author wrote it."""
    name = "skill-0000"
    author = ground.author(ground.skills, name)
    text = author["SKILL.md"].decode()
    for client, options in (("claude-code", ["--client", "claude-code"]), ("codex", [])):
        machine = ground.machine()
        project = machine.project()
        done = machine.type(project, "add", ground.url(ground.skills), "--skill", name, *options)
        if not checks.check(f"`add` installs for {client}", done.code == 0, done):
            continue
        own = project / (".claude/skills" if client == "claude-code" else SKILLS) / name
        checks.check(f"{client}'s folder has the author's bytes", files_in(own.resolve()) == author, sorted(files_in(own)))
        guide = f"{own}/references/guide.md"
        script = {
            "claude-code": [{"tool": "Skill", "input": {"skill": name}}],
            "codex": [{"tool": "exec_command", "input": {"cmd": f"cat {own}/SKILL.md {guide}"}}],
        }[client]
        turns = ground.programs.converse(machine, project, client, script)
        about = text.split("description: ")[1].split("\n")[0]
        checks.check(f"{client} lists it", about in seen_texts(turns[:1]), seen_texts(turns[:1])[-2000:])
        # Claude Code leaves the frontmatter out.
        expected = body(author["SKILL.md"]) if client == "claude-code" else text + author["references/guide.md"].decode()
        seen = seen_texts(turns[-1:])
        checks.check(f"{client}'s model reads it as its author wrote it", expected in seen, seen[-3000:])
        machine.type(project, "remove", name)
        turns = ground.programs.converse(machine, project, client, [])
        checks.check(f"{client} lists nothing after `remove`", about not in seen_texts(turns), seen_texts(turns)[-2000:])


def theirs_in_ours(checks: Checks, ground: Ground) -> None:
    """`npx skills` installs, and we list and load it; we install, and it lists that."""
    machine = ground.machine()
    project = machine.project()
    name, ours = "skill-0001", "skill-0000"
    words = ["add", f"{ground.url(ground.skills)}#v1.0.0", "-s", name, "-a", "claude-code", "codex", "-y"]
    done = ground.programs.run(machine, project, "skills", *words)
    author = ground.author(ground.skills, name, "v1.0.0")
    checks.check("`npx skills add` installs", done.code == 0 and installed(project).get(name) == digest(author), done)
    machine.run(project, "trust", "--yes")
    listed = json.loads(machine.run(project, "list", "--json").out)["skills"]
    checks.check("`skillfold list` has it once, from both folders", [skill["name"] for skill in listed] == [name], listed)
    loaded = machine.run(project, "load", name)
    checks.check("`skillfold load` gives what its author wrote", body(author["SKILL.md"]) in loaded.out, loaded)
    guide = machine.run(project, "read", name, "references/guide.md")
    checks.check("`skillfold read` gives its files", author["references/guide.md"].decode() in guide.out, guide)
    machine.type(project, "add", f"{ground.url(ground.skills)}@v1.0.0", "--skill", ours, "--client", "claude-code")
    done = ground.programs.run(machine, project, "skills", "list", "--json")
    paths = {skill["name"]: skill["path"] for skill in json.loads(done.out)} if done.code == 0 else {}
    expected = {skill: str(project / SKILLS / skill) for skill in (ours, name)}
    checks.check("`npx skills list` has what we installed, for the clients it is for", paths == expected, done)
    clients = {skill["name"]: skill["agents"] for skill in json.loads(done.out)} if done.code == 0 else {}
    checks.check("`npx skills list` knows that Claude Code has it", "Claude Code" in clients.get(ours, []), done)
    done = machine.type(project, "add", f"{ground.url(ground.skills)}@v1.0.0", "--skill", name)
    same = installed(project).get(name) == digest(author)
    checks.check("What `npx skills` installed is not overwritten", same and (done.code == 0 or "hint: " in done.said), done)


def marketplaces(checks: Checks, ground: Ground) -> None:
    """A plugin of a marketplace has the same skills in Claude Code, in Codex and with us."""
    machine = ground.machine()
    project = machine.project()
    names = sorted(ground.market.skills("v1.1.0"))
    for client, add in (("claude", "install"), ("codex", "add")):
        done = ground.programs.run(machine, project, client, "plugin", "marketplace", "add", ground.url(ground.market))
        more = ground.programs.run(machine, project, client, "plugin", add, f"{PLUGIN}@test-market")
        checks.check(f"{client} installs a plugin from the marketplace", (done.code, more.code) == (0, 0), f"{done}\n{more}")
    done = machine.type(project, "add", ground.url(ground.market), "--all")
    checks.check("`add` installs the skills of the same marketplace", done.code == 0 and sorted(installed(project)) == names, done)
    elsewhere = [plugin for plugin in ("in-git", "in-folder", "on-github") if plugin not in done.said]
    checks.none("`add` names each plugin that is elsewhere, and not installed", elsewhere)
    for name in names:
        ours = files_in(project / SKILLS / name)
        for client, folder in (("Claude Code", ".claude"), ("Codex", ".codex")):
            theirs = files_in(machine.home / folder / f"plugins/cache/test-market/{PLUGIN}/1.1.0/skills/{name}")
            same = ours == theirs == ground.author(ground.market, name)
            checks.check(f"{client} has the same bytes of `{name}` as we", same, sorted(theirs))
    # The plugin alone, without ours.
    shutil.rmtree(project / ".agents")
    script = [{"tool": "Skill", "input": {"skill": f"{PLUGIN}:{names[0]}"}}]
    seen = seen_texts(ground.programs.converse(machine, project, "claude-code", script)[-1:])
    text = body(ground.author(ground.market, names[0])["SKILL.md"])
    checks.check("Claude Code's model reads the plugin's skill, whose bytes are ours", text in seen, seen[-3000:])


def elsewhere(checks: Checks, ground: Ground) -> None:
    """A plugin that a marketplace lists and that is in another repository: Claude Code follows, we add that repository."""
    machine = ground.machine()
    project = machine.project()
    ground.programs.run(machine, project, "claude", "plugin", "marketplace", "add", ground.url(ground.market))
    done = ground.programs.run(machine, project, "claude", "plugin", "install", "in-git@test-market")
    listed = ground.programs.run(machine, project, "claude", "plugin", "list", "--json")
    if not checks.check("Claude Code installs a plugin of another repository", done.code == 0, done):
        return
    theirs = Path(json.loads(listed.out)[0]["installPath"])
    done = machine.type(project, "add", f"{ground.url(ground.skills)}@v1.0.0", "--all")
    ours = installed(project)
    found = {name: digest(files_in(theirs / "skills" / name)) for name in ours}
    same = done.code == 0 and found == ours and len(ours) == 3
    checks.check("`add` of that repository at its tag installs the same bytes", same, done)


def plugins(checks: Checks, ground: Ground) -> None:
    """`npx plugins` installs the skills of an Agent Plugin 1.0, and we the same."""
    machine = ground.machine()
    project = machine.project()
    done = machine.type(project, "add", ground.url(ground.plugin), "--all")
    names = sorted(ground.plugin.skills("v1.1.0"))
    ours = installed(project)
    expected = {name: digest(ground.author(ground.plugin, name)) for name in names}
    checks.check("`add` installs the skills of an Agent Plugin", done.code == 0 and ours == expected, done)
    for client, folder in (("claude-code", ".claude"), ("codex", ".codex")):
        done = ground.programs.run(machine, project, "plugins", "add", ground.url(ground.plugin), "-t", client, "-y")
        found = machine.home.glob(f"{folder}/plugins/cache/**/skills/*/SKILL.md")
        theirs = [(path.parent.name, digest(files_in(path.parent))) for path in found]
        same = done.code == 0 and len(theirs) >= len(names) and set(theirs) == set(ours.items())
        checks.check(f"`npx plugins` installs the same bytes for {client}", same, f"{done}\n{theirs}")
