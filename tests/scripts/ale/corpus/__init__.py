"""Expressions and their values, as data.

A file is one theme, a line `# …` starts a group, and every example is `expression => value as printed` or
`expression => !message of the error`; an expression may take several lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Example(NamedTuple):
    theme: str
    group: str
    text: str
    expected: str


def examples() -> list[Example]:
    return [example for path in sorted(Path(__file__).parent.glob("*.txt")) for example in _read(path)]


def _read(path: Path) -> list[Example]:
    found: list[Example] = []
    group, text = "", ""
    for line in path.read_text().splitlines():
        if line.startswith("# ") and not text:
            group = line.removeprefix("# ")
            continue
        text += line
        if " => " in line:
            text, _, expected = text.rpartition(" => ")
            found.append(Example(path.stem, group, text, expected))
            text = ""
        else:
            text += "\n"
    assert not text.strip(), f"{path.name} ends in the middle of an example"
    return found
