#!/usr/bin/env python3
"""Counts the words and lines of a text: echo '{"text": "one two"}' | python3 scripts/count.py"""

import json
import sys


def main() -> int:
    try:
        text = json.load(sys.stdin)["text"]
        words, lines = len(text.split()), len(text.splitlines())
    except (ValueError, KeyError, TypeError, AttributeError):
        print('Standard input must be JSON with a string "text"', file=sys.stderr)
        return 2
    metadata = {"words": words, "lines": lines}
    print(json.dumps({"title": "Counted", "metadata": metadata, "output": f"{words} words, {lines} lines"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
