#!/usr/bin/env python3
"""Greets people in their language.

Prints one line, ready to be sent.
"""

from __future__ import annotations

import argparse
import sys

TIMES = ("day", "morning", "evening")
# For each language: the greeting for each time, what joins the last two names, and the line with its punctuation.
LANGUAGES = {
    "english": (("Hello", "Good morning", "Good evening"), " and ", "{greeting}, {names}!"),
    "french": (("Bonjour", "Bonjour", "Bonsoir"), " et ", "{greeting} {names} !"),
    "german": (("Guten Tag", "Guten Morgen", "Guten Abend"), " und ", "{greeting}, {names}!"),
    "japanese": (("こんにちは", "おはようございます", "こんばんは"), "、", "{names}、{greeting}。"),
    "spanish": (("Hola", "Buenos días", "Buenas tardes"), " y ", "¡{greeting}, {names}!"),
}


def greet(names: list[str], language: str = "english", time: str = "day") -> str:
    """Return a greeting for some people. Raise `ValueError` for a language or a time that is not known."""
    if language.lower() not in LANGUAGES:
        raise ValueError(f"Unknown language: {language}. Known are: {', '.join(LANGUAGES)}")
    if time not in TIMES:
        raise ValueError(f"Unknown time: {time}. Known are: {', '.join(TIMES)}")
    cleaned = [" ".join(str(name).split()) for name in names]
    if not cleaned or not all(cleaned):
        raise ValueError("Nobody to greet: a name is missing or empty")
    greetings, conjunction, line = LANGUAGES[language.lower()]
    if language.lower() == "japanese":
        joined = conjunction.join(f"{name}さん" for name in cleaned)
    else:
        *others, last = cleaned
        joined = ", ".join(others) + conjunction + last if others else last
    return line.format(greeting=greetings[TIMES.index(time)], names=joined)


def main() -> int:
    parser = argparse.ArgumentParser(description="Greets people in their language.")
    parser.add_argument("name", nargs="+", help="who is greeted, written as given")
    parser.add_argument("--language", default="english", help=f"{', '.join(LANGUAGES)}; english if left out")
    parser.add_argument("--time", default="day", choices=TIMES, help="the time of day; day fits always")
    options = parser.parse_args()
    try:
        print(greet(options.name, options.language, options.time))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
