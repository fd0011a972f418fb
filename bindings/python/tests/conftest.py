"""Skills for the tests, apart from those of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillfold import Skills

if TYPE_CHECKING:
    from pathlib import Path

PDF = """---
name: pdf
description: Fills in, merges and splits PDF files
triggers: [pdf, fill in a form]
---
Read references/forms.md, then write each field.
"""
FORMS = "Field names are lower case.\n"
# One pixel.
PICTURE = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89"
    b"\0\0\0\rIDATx\xdacd`\xf8_\x0f\0\2\x87\1\x80\xebG\xba\x92\0\0\0\0IEND\xaeB`\x82"
)
CODE_REVIEW = """---
name: code-review
description: Reviews code changes for bugs and style
---
Name the file and line of each bug.
"""
MAIL = """---
name: mail
description: Writes and sends mail
triggers: { keywords: [mail, newsletter] }
---
Begin with the request, not with a greeting.
"""
BUNDLED: dict[str, str | bytes] = {
    "pdf/SKILL.md": PDF,
    "pdf/references/forms.md": FORMS,
    "pdf/assets/stamp.png": PICTURE,
    "code-review/SKILL.md": CODE_REVIEW,
    "mail/SKILL.md": MAIL,
}

# A sentence of each skill's instructions, to find it by in what a model gets.
PDF_TEXT = "then write each field"
CODE_REVIEW_TEXT = "Name the file and line"
MAIL_TEXT = "Begin with the request"


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    """`pdf` with triggers and files, `code-review` without triggers, and `mail`."""
    return Skills.discover(tmp_path, home=tmp_path, bundled=BUNDLED)


@pytest.fixture
def no_skills(tmp_path: Path) -> Skills:
    return Skills.discover(tmp_path, home=tmp_path)
