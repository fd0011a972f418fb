"""Packs a folder as a ZIP archive whose bytes depend on its files and a time alone.

    python3 packaging/zip.py FOLDER ARCHIVE SECONDS
"""

import pathlib
import sys
import time
import zipfile

folder, archive = (pathlib.Path(name) for name in sys.argv[1:3])
written = time.gmtime(int(sys.argv[3]))[:6]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            entry = zipfile.ZipInfo(str(pathlib.PurePosixPath(folder.name, *file.relative_to(folder).parts)), written)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o755 if file.suffix == ".exe" else 0o644) << 16
            packed.writestr(entry, file.read_bytes())
