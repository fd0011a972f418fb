"""The Python code of the pages runs as printed, from top to bottom, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "bindings/python/README.md", *REPOSITORY.glob("docs/python/*.md")]


def blocks(page: Path) -> str:
    """Return the code of a page, at the lines where it stands, so that errors name them."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"```(python)?", line) and (inside or line != "```"):
            inside = not inside
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_code_blocks_of_a_page_run_as_printed(page: Path, tmp_path: Path) -> None:
    code = blocks(page)
    if "```python ignore" in page.read_text(encoding="utf-8") and not code.strip():
        return
    assert code.strip(), "the page has no code"
    program = "import sys\nname, text = sys.argv[1:]\nexec(compile(text, name, 'exec'), {'__name__': '__main__'})"
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", "-c", program, str(page), code]
    environment = {**os.environ, "HOME": str(tmp_path)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
