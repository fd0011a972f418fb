"""How much of the code that adds skills to a request its tests run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest

pytest.importorskip("agent_framework")

LEAST_PERCENT = 95
MODULES = ("context.py", "agent_framework.py")
# Runs the tests of the arguments and prints which lines of the modules were run, on all threads.
TRACER = """
import json, sys, threading
import pytest
modules, *arguments = sys.argv[1:]
seen = set()

def trace(frame, event, _):
    file = frame.f_code.co_filename.replace("\\\\", "/")
    if "/skillfold/" not in file or not file.endswith(tuple(modules.split())):
        return None
    seen.add((file, frame.f_lineno))
    return trace

threading.settrace(trace)
sys.settrace(trace)
code = pytest.main(["-q", "-p", "no:cacheprovider", *arguments])
sys.settrace(None)
print(json.dumps([int(code), sorted(seen)]))
"""


def lines(code: CodeType) -> set[int]:
    """Return the lines of a module that can run."""
    own = {line for _, _, line in code.co_lines() if line}
    return own.union(*(lines(part) for part in code.co_consts if isinstance(part, CodeType)))


def test_context_provider_is_covered() -> None:
    here = Path(__file__).parent
    tests = [str(here / name) for name in ("test_context.py", "test_agent_framework.py")]
    command = [sys.executable, "-c", TRACER, " ".join(MODULES), *tests, "-k", "not less_than and not import"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=here, check=False)
    code, seen = json.loads(ran.stdout.splitlines()[-1])
    assert code == 0, ran.stdout
    for module in MODULES:
        [file] = {file for file, _ in seen if file.endswith(f"/{module}")}
        text = Path(file).read_text(encoding="utf-8")
        only_types = text.index("if TYPE_CHECKING:"), text.index("__all__")
        for_types = range(*(text[:at].count("\n") + 1 for at in only_types))
        possible = {line for line in lines(compile(text, file, "exec")) if line not in for_types}
        missed = possible - {line for path, line in seen if path == file}
        percent = 100 - 100 * len(missed) / len(possible)
        assert percent >= LEAST_PERCENT, f"{module}: {percent:.1f} %, without the lines {sorted(missed)}"
