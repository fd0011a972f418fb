"""Paths of files inside a skill."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from skillfold.compat.skillkit.core.exceptions import PathSecurityError

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)


class FilePathResolver:
    """Turns the relative path of a file into its real path.

    The check is over before the file is opened: whoever can replace a folder by a link in between can lead out of the
    skill. `skillfold.Skills.read` has no such gap, because it opens the file itself.
    """

    @staticmethod
    def resolve_path(base_directory: Path, relative_path: str) -> Path:
        """Return the real path of a file of a skill. `PathSecurityError` if it is outside of the skill's folder."""
        base = base_directory.resolve()
        try:
            path = (base / relative_path).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            message = f"Path {relative_path!r} cannot be resolved in {base}: {error}"
            raise PathSecurityError(message, relative_path, str(base)) from error
        if not path.is_relative_to(base):
            message = f"Path {relative_path!r} leads out of the skill's folder {base}"
            logger.error(message)
            raise PathSecurityError(message, relative_path, str(base))
        return path
