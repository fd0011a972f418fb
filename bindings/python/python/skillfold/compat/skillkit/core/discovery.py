"""Finds `SKILL.md` files."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from skillfold.compat.skillkit._engine import MAX_DEPTH, is_below, open_folders, order
from skillfold.compat.skillkit.core.exceptions import PluginError
from skillfold.compat.skillkit.core.parser import parse_plugin_manifest

if TYPE_CHECKING:
    from skillfold.compat.skillkit.core.models import PluginManifest, SkillSource

logger = logging.getLogger(__name__)


class SkillDiscovery:
    """Finds the `SKILL.md` files below folders, also those that are not valid."""

    SKILL_FILE_NAME = "SKILL.md"

    def discover_skills(self, source: SkillSource) -> list[Path]:
        """Return the files of a source; of a plugin, those in the folders that its manifest names."""
        return [file for folder in skill_folders(source) for file in self.scan_directory(folder)]

    def scan_directory(self, skills_dir: Path) -> list[Path]:
        """Return the files below a folder; none if it does not exist."""
        return self.find_skill_files(skills_dir)

    def find_skill_files(self, skills_dir: Path, max_depth: int = MAX_DEPTH) -> list[Path]:
        """Return the files in a folder and at most some folders below it, the nearest first."""
        folder = skills_dir.absolute()
        listing = open_folders([folder], max_depth=max_depth).list()
        files = [Path(found.file) for found in (*listing.skills, *listing.refused) if found.file is not None]
        return sorted((file for file in files if is_below(file, folder, max_depth)), key=order)

    async def adiscover_skills(self, source: SkillSource) -> list[Path]:
        """Do what `discover_skills` does, on another thread."""
        return await asyncio.to_thread(self.discover_skills, source)

    async def ascan_directory(self, skills_dir: Path) -> list[Path]:
        """Do what `scan_directory` does, on another thread."""
        return await asyncio.to_thread(self.scan_directory, skills_dir)

    async def afind_skill_files(self, skills_dir: Path, max_depth: int = MAX_DEPTH) -> list[Path]:
        """Do what `find_skill_files` does, on another thread."""
        return await asyncio.to_thread(self.find_skill_files, skills_dir, max_depth)


def discover_plugin_manifest(plugin_dir: Path) -> PluginManifest | None:
    """Return the manifest of a plugin, or `None` if there is none or it is invalid, which is logged."""
    path = plugin_dir / ".claude-plugin" / "plugin.json"
    if not path.exists():
        return None
    try:
        return parse_plugin_manifest(path)
    except PluginError as error:
        logger.warning("The manifest of the plugin %s is not used: %s", plugin_dir, error)
        return None


def skill_folders(source: SkillSource) -> list[Path]:
    """Return the folders of a source in which skills are."""
    if source.plugin_manifest is None:
        return [source.directory]
    return [source.directory / folder for folder in source.plugin_manifest.skills]
