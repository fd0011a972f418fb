# /// script
# requires-python = ">=3.10"
# dependencies = ["pillow>=11"]
# ///
"""Writes a resized copy of an image."""

import argparse

from PIL import Image

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("source")
parser.add_argument("target")
parser.add_argument("--width", type=int, required=True)
options = parser.parse_args()
if options.source == options.target:
    parser.error("the target would overwrite the original")

image = Image.open(options.source)
height = max(1, round(image.height * options.width / image.width))
copy = image.resize((options.width, height))
if options.target.lower().endswith((".jpg", ".jpeg")):
    copy = copy.convert("RGB")
copy.save(options.target)
print(f"{options.target}: {copy.width} x {copy.height}, was {image.width} x {image.height}")
