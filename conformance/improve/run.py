#!/usr/bin/env python3
"""An agent proposes, a person decides: the command and the server as they ship, in a real terminal (tmux).

    conformance/improve/run.py --skillfold target/release/skillfold [--update]

1. A model loads a skill from a running server, finds it outdated and proposes a change over MCP. Nothing changes.
2. No way that an agent has approves it: no tool of the server, no pipe, no process without a terminal, and with
   `approval_requires = "passphrase"` no terminal that it drives either.
3. A person reviews it on a terminal and approves it. The same server serves the new version.
4. The history has it, a rollback takes it back, and the log is whole.

What is seen on the way is compared with the page docs/review.md; `--update` writes it there. Needs tmux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from terminal import Checks, Server, Terminal, World, compare, wait_for

PAGE = Path(__file__).resolve().parents[2] / "docs/review.md"
SKILL = """---
name: pdf
description: Fills in PDF forms. Use when somebody has a form to fill in.
version: 1.2.0
---
# Fill in a form

1. List the fields with `pdftk form.pdf dump_data_fields`.
2. Write the values into `values.fdf`.
3. Run `pdftk form.pdf fill_form values.fdf output filled.pdf`.
"""
DIFF = """--- a/SKILL.md
+++ b/SKILL.md
@@ -6,5 +6,5 @@
 # Fill in a form

-1. List the fields with `pdftk form.pdf dump_data_fields`.
+1. List the fields with `qpdf --json form.pdf`.
 2. Write the values into `values.fdf`.
 3. Run `pdftk form.pdf fill_form values.fdf output filled.pdf`.
"""
PASSPHRASE = "correct horse battery"


def propose(server: Server, notice: Path, check: Checks) -> str:
    """The model finds the skill outdated, and proposes a change. Returns the answer."""
    check("the model loads the skill", "pdftk form.pdf dump_data_fields" in server.call("load_skill", skill_id="pdf"))
    answer = server.call(
        "propose_skill_update",
        skill_id="pdf",
        diff=DIFF,
        justification="pdftk is not packaged any more; qpdf lists the fields",
        evidence="`pdftk: command not found` in two conversations",
    )
    check("the change is proposed", "pending review" in answer, answer)
    again = server.call("propose_skill_update", skill_id="pdf", diff=DIFF, justification="again")
    check("the same change is one proposal", "already pending review" in again, again)
    wrong = server.call("propose_skill_update", skill_id="pdf", diff="--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1 +1 @@\n-no\n+yes\n", justification="x")
    check("a diff that does not apply says so", "Proposed" not in wrong, wrong)
    check("nothing has changed", "dump_data_fields" in server.call("load_skill", skill_id="pdf"))
    new = server.call(
        "propose_new_skill",
        skill_id="csv-clean",
        content="---\nname: csv-clean\ndescription: Cleans up tables. Use when a CSV file has broken rows.\n---\nUse `csvclean`.\n",
        justification="asked for three times this week",
    )
    check("a new skill is proposed", "pending review" in new, new)
    check("a proposed skill is not there", "There is no skill" in server.call("load_skill", skill_id="csv-clean"))
    told = notice.read_text() if wait_for(lambda: notice.exists() and "csv-clean" in notice.read_text()) else ""
    check("the user's command is told of each proposal", told.count("## Justification") == 2, told)
    return answer


def refuse(world: World, server: Server, name: str, check: Checks) -> None:
    """No way that an agent has approves."""
    check("no tool approves", not any("approve" in tool for tool in server.tools()), server.tools())
    for tool in ("approve", "approve_skill_update", "approve_proposal"):
        check(f"{tool} over MCP is unknown", server.call(tool, name=name).startswith("error: Unknown tool"))
    piped = world.run("approve", name, input="y\nyes\n")
    check("a pipe does not approve", piped.returncode != 0 and "terminal" in piped.stderr, piped)
    alone = world.run("approve", name, stdin=subprocess.DEVNULL, start_new_session=True)
    check("a process without a terminal does not approve", alone.returncode != 0 and "terminal" in alone.stderr, alone)
    review = world.run("review", input="a\nyes\n")
    check("a review needs a terminal", review.returncode != 0 and "terminal" in review.stderr, review)
    listed = json.loads(world.run("proposals", "--json").stdout)
    check("a script can list", len(listed["proposals"]) == 2, listed)
    shown = json.loads(world.run("proposals", name, "--json").stdout)
    check("a script can show", shown["effects"]["step"] == "patch" and shown["effects"]["next_version"] == "1.2.1", shown)
    check("nothing has changed", "dump_data_fields" in (world.home / ".agents/skills/pdf/SKILL.md").read_text())


def refuse_driven(world: World, name: str, check: Checks) -> None:
    """With a passphrase, a terminal that an agent drives does not approve."""
    terminal = Terminal(world, 100)
    terminal.type("skillfold passphrase", "Enter")
    terminal.wait("New passphrase:")
    terminal.type(PASSPHRASE, "Enter")
    terminal.wait("Repeat:")
    terminal.type(PASSPHRASE, "Enter")
    terminal.wait("The passphrase is set")
    check("a passphrase is not shown", PASSPHRASE not in terminal.screen())
    world.run("config", "set", "approval_requires", "passphrase")
    terminal.type(f"clear; skillfold approve {name}", "Enter")
    terminal.wait("[y/N]")
    terminal.type("y", "Enter")
    terminal.wait("Passphrase:")
    terminal.type("password", "Enter")
    screen = terminal.wait("Wrong passphrase")
    check("a driven terminal without the passphrase does not approve", "Approved" not in screen, screen)
    check("nothing has changed", "dump_data_fields" in (world.home / ".agents/skills/pdf/SKILL.md").read_text())
    world.run("config", "unset", "approval_requires")
    terminal.close()


def review(world: World, check: Checks) -> dict[str, str]:
    """A person reviews on a terminal, and returns the screens."""
    narrow = Terminal(world, 80, 40, "NO_COLOR=1")
    narrow.type("clear; skillfold why 'clean up a table' --skill csv-clean", "Enter")
    narrow.wait("it is a proposal")
    narrow.type("clear; skillfold", "Enter")
    narrow.wait("lists all commands")
    screens = {"waiting": narrow.settled()}
    narrow.type("clear", "Enter")
    narrow.type("skillfold review", "Enter")
    narrow.wait("qpdf --json")
    screens["review-80-columns"] = narrow.settled()
    narrow.type("q")
    narrow.close()
    wide = Terminal(world, 120, 40)
    wide.type("skillfold review", "Enter")
    wide.wait("qpdf --json")
    screens["review-120-columns"] = wide.settled()
    wide.type("Right")
    wide.wait("new skill csv-clean")
    screens["review-new-skill"] = wide.settled()
    wide.type("r")
    wide.wait("Why not?")
    wide.type("We use another tool for that", "Enter")
    wide.wait("Rejected: csv-clean")
    wide.type("a")
    wide.wait("Approve?")
    wide.type("no", "Enter")
    wide.wait("Not approved")
    wide.type("a")
    wide.wait("Approve?")
    wide.type("y")
    screens["review-approve"] = wide.settled()
    wide.type("Enter")
    wide.wait("Approved: pdf is now")
    wide.close()
    check("the skill has changed", "qpdf --json" in (world.home / ".agents/skills/pdf/SKILL.md").read_text())
    return screens


def history(world: World, check: Checks) -> dict[str, str]:
    """The history has it, a rollback takes it back, and the log is whole."""
    terminal = Terminal(world, 100)
    terminal.type("clear; skillfold history pdf", "Enter")
    terminal.wait("2 versions")
    screens = {"history": terminal.settled()}
    terminal.type("clear; skillfold rollback pdf --reason 'it was better'", "Enter")
    terminal.wait("[y/N]")
    terminal.type("y", "Enter")
    terminal.wait("Rolled back")
    screens["rollback"] = terminal.settled()
    terminal.close()
    check("the old version is there again", (world.home / ".agents/skills/pdf/SKILL.md").read_text() == SKILL)
    terminal = Terminal(world, 100)
    terminal.type("skillfold audit verify --passphrase", "Enter")
    terminal.wait("Passphrase:")
    terminal.type(PASSPHRASE, "Enter")
    proofs = terminal.wait("2 approvals without it")
    terminal.close()
    check("the passphrase was not given for these approvals", "0 approvals with the passphrase" in proofs, proofs)
    versions = json.loads(world.run("history", "pdf", "--json").stdout)["versions"]
    causes = [version["cause"] for version in versions]
    check("a rollback is an entry", causes == ["found", "approved", "rolled_back"], causes)
    check("it says who and how", (versions[1]["by"], versions[1]["how"]) == ("anna", "terminal"), versions)
    verified = world.run("audit", "verify")
    check("the log is whole", verified.returncode == 0, verified)
    head = verified.stdout.strip()
    log = world.home / ".local/share/skillfold/audit.jsonl"
    text = log.read_text()
    log.write_text(text.replace('"by":"anna"', '"by":"otto"', 1))
    changed = world.run("audit", "verify")
    check("a changed log is found", changed.returncode != 0 and "damaged in line" in changed.stderr, changed)
    log.write_text("".join(line + "\n" for line in text.splitlines()[:-1]))
    cut = world.run("audit", "verify", "--head", head)
    check("a log whose end is cut off is found by its last hash", cut.returncode != 0, cut)
    log.write_text(text)
    return screens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skillfold", required=True, type=Path)
    parser.add_argument("--update", action="store_true", help="write the screens")
    options = parser.parse_args()
    world, check = World("improve", options.skillfold), Checks()
    world.write(".agents/skills/pdf/SKILL.md", SKILL)
    notice = world.home / "notice.txt"
    world.run("config", "set", "proposals", "on")
    world.run("config", "set", "notify_command", f"tee -a {notice}")
    server = Server(world)
    answer = propose(server, notice, check)
    name = next(row["name"] for row in json.loads(world.run("proposals", "--json").stdout)["proposals"] if row["skill_id"] == "pdf")
    refuse(world, server, name, check)
    refuse_driven(world, name, check)
    screens = {"answer": answer.rstrip("\n") + "\n"} | review(world, check)
    served = wait_for(lambda: "qpdf --json" in server.call("load_skill", skill_id="pdf"))
    check("the running server serves the new version", served)
    server.close()
    screens |= history(world, check)
    compare(world, PAGE, screens, options.update)
    world.remove()
    print(json.dumps({"checks": check.done, "screens": len(screens)}))


if __name__ == "__main__":
    sys.exit(main())
