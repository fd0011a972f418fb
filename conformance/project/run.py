#!/usr/bin/env python3
"""Ten skills do their work on a project, as a new user would have them do it, in a real terminal (tmux).

    conformance/project/run.py --skillfold target/release/skillfold [--uv PATH] [--json]

For each skill of examples/project-skills: copy it, allow it once (with its packages, if it names some), run it on a file of
the project, and look at what it made. Prints the seconds from the first key to the result. Without `--uv` or `npm`, the
skills with packages are left out, and that is said. Needs tmux.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from terminal import Checks, Terminal, World

SKILLS = Path(__file__).resolve().parents[2] / "examples/project-skills"

# Each skill: what installs its packages, the script with its arguments, what it prints, and the file that it writes.
TASKS = {
    "pdf-text": ("uv", "scripts/text.py docs/letter.pdf", "Dear Anna", None),
    "spreadsheet-summary": ("uv", "scripts/summary.py sales.xlsx", "amount: sum 42", None),
    "image-resize": ("uv", "scripts/resize.py logo.png small.png --width 8", "8 x 8, was 16 x 16", "small.png"),
    "csv-report": (None, "scripts/report.py sales.csv --by customer --sum amount --out report.md", "| Ada | 30 |", "report.md"),
    "markdown-links": (None, "scripts/links.py docs", "no such file", None),
    "git-log-summary": (None, "scripts/summary.sh", "anna: first", None),
    "json-schema-check": ("uv", "scripts/check.py schema.json good.json bad.json", "$.port: 'x' is not of type 'integer'", None),
    "pypi-versions": (None, "scripts/versions.py requirements.txt", "six 1.0 -> ", None),
    "markdown-to-html": ("npm", "scripts/page.mjs docs/index.md page.html", 'titled "Guide"', "page.html"),
    "yaml-to-json": ("npm", "scripts/convert.mjs config.yaml config.json", "config.json: written", "config.json"),
}

NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "UV_DEFAULT_INDEX", "NPM_CONFIG_REGISTRY")


def pdf(text: str) -> bytes:
    stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode()
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 6\n0000000000 65535 f \n%strailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return out + end % (table, len(out))


def png(size: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    head = size.to_bytes(4, "big") * 2 + b"\x08\x02\x00\x00\x00"
    rows = b"".join(b"\0" + bytes([200, 40, 40]) * size for _ in range(size))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def xlsx(path: Path) -> None:
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    rows = [("customer", "amount"), ("Ada", 30), ("Ben", 12)]
    cell = lambda value: (  # noqa: E731
        f"<c><v>{value}</v></c>" if isinstance(value, int) else f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    )
    data = "".join(f"<row>{''.join(cell(value) for value in row)}</row>" for row in rows)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>')
        file.writestr("_rels/.rels", f'<Relationships xmlns="{package}/relationships"><Relationship Id="a" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
        file.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="Sales" sheetId="1" r:id="b"/></sheets></workbook>')
        file.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships"><Relationship Id="b" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>')
        file.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>')


def make_project(project: Path) -> None:
    (project / "docs").mkdir(parents=True)
    (project / "docs/letter.pdf").write_bytes(pdf("Dear Anna"))
    (project / "logo.png").write_bytes(png(16))
    xlsx(project / "sales.xlsx")
    (project / "sales.csv").write_text("customer,amount\nAda,10\nBen,12\nAda,20\n")
    (project / "docs/index.md").write_text("# Guide\n\nSee [the start](start.md) and [nothing](missing.md).\n")
    (project / "docs/start.md").write_text("# Start\n")
    (project / "schema.json").write_text('{"type": "object", "properties": {"port": {"type": "integer"}}}')
    (project / "good.json").write_text('{"port": 1}')
    (project / "bad.json").write_text('{"port": "x"}')
    (project / "requirements.txt").write_text("six==1.0\n")
    (project / "config.yaml").write_text("a: [1, 2]\n")
    git = ["git", "-c", "user.name=anna", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], cwd=project, check=True)
    subprocess.run([*git, "add", "."], cwd=project, check=True)
    subprocess.run([*git, "commit", "-qm", "first"], cwd=project, check=True)
    # What root starts runs as nobody.
    project.chmod(0o777)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skillfold", type=Path, required=True)
    parser.add_argument("--uv", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    world, checks = World("project", options.skillfold.resolve()), Checks()
    if options.uv:
        shutil.copy(options.uv, world.bin)
    has = {None: True, "uv": bool(options.uv), "npm": bool(shutil.which("npm"))}
    project = world.home / "app"
    make_project(project)
    # A machine that reaches the registries through a mirror.
    network = {name: os.environ[name] for name in NETWORK if name in os.environ}
    reached = ipaddress.ip_address(socket.getaddrinfo("pypi.org", 443)[0][4][0])
    seconds: dict[str, float] = {}
    for name, (installer, command, printed, written) in TASKS.items():
        if not has[installer]:
            print(f"left out: {name} needs {installer}", file=sys.stderr)
            continue
        shutil.copytree(SKILLS / name, world.home / ".agents/skills" / name)
        terminal = Terminal(world, 100, 40, *[f"{key}={value}" for key, value in network.items()])
        terminal.type(f"cd {project}", "Enter")
        started = time.monotonic()
        allow = f"run {name} --prepare" if installer else f"allow {name}"
        if name == "pypi-versions" and not reached.is_global:
            allow += " --private-network pypi.org"
        terminal.type(f"skillfold {allow}", "Enter")
        screen = terminal.wait("[y/N]")
        checks(f"{name} shows the project before it asks", "access to the project ~/app" in screen, screen)
        terminal.type("y", "Enter")
        terminal.wait("Allowed:")
        terminal.close()
        script, *arguments = command.split()
        run = ["skillfold", "run", name, script, "--", *arguments]
        environment = world.environment() | network
        done = subprocess.run(run, cwd=project, env=environment, capture_output=True, text=True)
        seconds[name] = round(time.monotonic() - started, 2)
        checks(f"{name} did its work", printed in done.stdout, f"{done.stdout}\n{done.stderr}")
        checks(f"{name} wrote its file", not written or (project / written).stat().st_size > 0, done.stderr)
    status = subprocess.run(["git", "status", "--short"], cwd=project, capture_output=True, text=True, check=True).stdout
    written = sorted(task[3] for name, task in TASKS.items() if task[3] and name in seconds)
    checks("nothing else changed", sorted(line[3:] for line in status.splitlines()) == written, status)
    world.remove()
    if options.json:
        print(json.dumps({"checks": checks.done, "seconds": seconds}))
    else:
        for name, took in seconds.items():
            print(f"{name:20} {took:6.2f} s")
        print(f"{checks.done} checks, {len(seconds)} of {len(TASKS)} skills")


if __name__ == "__main__":
    main()
