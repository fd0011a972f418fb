"""Who let a skill run: a list that was edited, the same bytes elsewhere, a form that hides its end."""

import hashlib
import json
import pathlib
import shutil

from ground import HELLO, Server, skill, write

RAN = b"zq7ran"


def attack(row, ground, _):
    by_hand(row, ground)
    forged(row, ground)
    same_bytes(row, ground)
    forms(row, ground)


def script(root, name, fields=""):
    folder = skill(root, name, name, fields=fields)
    write(folder / "scripts/a.sh", f"echo {RAN.decode()}\n")
    return folder


def runs(ground, name, **options):
    return RAN in ground.run("run", name, "scripts/a.sh", **options).out


def by_hand(row, ground):
    """The list is edited where a passphrase is required."""
    settings = ground.home / ".config/skillfold/config.toml"
    allowed = ground.home / ".local/state/skillfold/allowed.toml"
    write(settings, "")
    script(ground.user, "hand", "permissions: { network: true }\n")
    row.control(ground.at_terminal("allow", "hand").code == 0, "it is allowed at a terminal")
    text = allowed.read_bytes()
    for change in ["as it is", "taken back", "log removed"]:
        if change == "taken back":
            row.control(ground.run("allow", "--remove", "hand").code == 0, "it is taken back")
        if change == "log removed":
            (ground.home / ".local/share/skillfold/audit.jsonl").unlink()
        allowed.write_bytes(text)
        settings.write_text("", encoding="utf-8")
        row.control(runs(ground, "hand"), f"without a passphrase the list is enough: {change}")
        settings.write_text('approval_requires = "passphrase"\n', encoding="utf-8")
        row.try_one(runs(ground, "hand") and "it ran", f"by hand: {change}")
    settings.write_text("", encoding="utf-8")


def forged(row, ground):
    """The list and the log are forged, with hashes that fit, where a passphrase is required and set."""
    data = ground.home / ".local/share/skillfold"
    settings, log = ground.home / ".config/skillfold/config.toml", data / "audit.jsonl"
    verifier = pathlib.Path(__file__).parents[2] / "crates/skillfold-cli/tests/formats/passphrase.json"
    write(settings, "")
    script(ground.user, "forged", "permissions: { network: true }\n")
    row.control(ground.at_terminal("allow", "forged").code == 0, "it is allowed at a terminal")
    shutil.copy(verifier, data / "passphrase.json")
    (data / "passphrase.json").chmod(0o600)
    honest = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    settings.write_text('approval_requires = "passphrase"\n', encoding="utf-8")
    for proof in ["0" * 128, "f" * 128, "", "zz", "0" * 127, honest[-1]["hash"] * 2]:
        head, lines = "", []
        for record in honest:
            record = {key: value for key, value in record.items() if key != "hash"}
            if record.get("act") == "allow":
                record["approval"] = {**record["approval"], "how": "passphrase", "proof": proof}
            body = json.dumps(record, separators=(",", ":"), ensure_ascii=False)[:-1]
            head = hashlib.sha256(f"{head}\n{body}".encode()).hexdigest()
            lines.append(f'{body},"hash":"{head}"}}\n')
        log.write_text("".join(lines), encoding="utf-8")
        row.control(ground.run("audit", "verify").code == 0, "the hashes fit")
        row.try_one(runs(ground, "forged") and "it ran", f"forged proof: {proof[:8]}")
    settings.write_text("", encoding="utf-8")
    (data / "passphrase.json").unlink()


def same_bytes(row, ground):
    """A skill with the bytes of one that is allowed, in another folder."""
    own = script(ground.user, "same")
    row.control(ground.at_terminal("allow", "same").code == 0, "it is allowed")
    row.control(runs(ground, "same"), "it runs")
    copy = ground.own / "same"
    shutil.copytree(own, copy)
    ground.run("trust", "--yes")
    shutil.rmtree(own)
    row.try_one(runs(ground, "same") and "it ran", "a copy that nobody allowed")
    row.control(ground.at_terminal("allow", "same").code == 0, "the copy is allowed")
    row.control(runs(ground, "same"), "the copy runs")
    row.control(ground.run("allow", "--remove", "same").code == 0, "it is taken back")
    row.try_one(runs(ground, "same") and "it ran", "a copy that was taken back")


class Client(Server):
    """A client that says yes to every form."""

    def __init__(self, ground):
        self.forms = []
        super().__init__(ground, greet=False)
        self.ask("initialize", {**HELLO, "capabilities": {"elicitation": {}}})
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def receive(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                self.forms.append(message["params"]["message"])
                answer = {"action": "accept", "content": {}}
                self.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode())
            else:
                self.lines.put(line)
        self.lines.put(None)


def forms(row, ground):
    """A form that cannot show all that is granted."""
    write(ground.home / ".config/skillfold/config.toml", 'scripts = "on"\n')
    row.control(ground.at_terminal("allow", "--ask-in-clients", "on").code == 0, "clients may ask")
    many = ", ".join(f"~/notes-{number}" for number in range(20))
    for number in range(20):
        (ground.home / f"notes-{number}").mkdir()
    hidden = {
        "after-twenty": f"read: [{many}], write: [~/out]",
        "after-many": f"read: [{many}, ~/out]",
        "long-host": f"network: [{'.'.join(['a' * 60] * 4)}], read: [~/out]",
        "long-path": f"read: [~/{'a' * 199}/{'b' * 199}]",
        "dots": f"write: [{'~/' + './' * 200}out]",
        "protected": "write: [~/.local/state]",
    }
    (ground.home / "out").mkdir()
    script(ground.user, "shown", "permissions: { read: [~/out] }\n")
    for name, permissions in hidden.items():
        script(ground.user, name, f"permissions: {{ {permissions} }}\n")
    client = Client(ground)
    for name in hidden:
        client.forms.clear()
        answer = client.call("run_skill_script", skill_id=name, script="scripts/a.sh") or b""
        # Entries that are not paths are ignored; the others may be allowed.
        is_plain = name == "dots" and all("./" not in form for form in client.forms)
        row.try_one(not is_plain and (RAN in answer or client.forms) and f"asked {client.forms}", name)
        if name.startswith("after"):
            # Nor at a terminal of 24 rows.
            done = ground.at_terminal("allow", name)
            row.try_one(done.code == 0 and "allowed at a terminal", name)
        row.control(is_plain or b"skillfold allow" in answer or b"not_allowed" in answer, f"it says what to do: {answer}")
    answer = client.call("run_skill_script", skill_id="shown", script="scripts/a.sh") or b""
    row.control(RAN in answer and "~/out" in client.forms[-1], f"what fits is asked about: {answer} {client.forms}")
    client.close()
