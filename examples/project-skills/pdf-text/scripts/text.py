# /// script
# requires-python = ">=3.10"
# dependencies = ["pypdf>=6"]
# ///
"""Prints the text of a PDF, page by page."""

import argparse

from pypdf import PdfReader

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file")
parser.add_argument("--pages", metavar="FIRST-LAST", help="such as 2-4, or 3")
options = parser.parse_args()

pages = PdfReader(options.file).pages
first, _, last = (options.pages or f"1-{len(pages)}").partition("-")
for number in range(int(first), int(last or first) + 1):
    text = pages[number - 1].extract_text().strip()
    print(f"--- page {number} of {len(pages)}")
    print(text or "(no text: probably a scan)")
