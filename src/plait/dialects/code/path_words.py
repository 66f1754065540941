"""Parsing the printed path of an operation: its parts, and the words shown to people."""

from __future__ import annotations

UPDATE = "~update."
"""Prefix of the scope of an update's handler; no operation's name is printed so."""


def path_words(path: str) -> str:
    """`items/~1/ship` is "items / loop 2 / ship", `~update.add/~1/check` is "update add / 2 / check"."""
    words: list[str] = []
    for piece in path.split("/"):
        part = read_part(piece)
        if isinstance(part, int):
            words.append(str(part + 1) if words and words[-1].startswith("update ") else f"loop {part + 1}")
        else:
            words.append(f"update {part.removeprefix(UPDATE)}" if piece.startswith(UPDATE) else part)
    return " / ".join(words)


def read_part(piece: str) -> str | int:
    """Parses a name, or the number of an iteration."""
    if piece.startswith("~") and piece[1:].isdigit():
        return int(piece[1:])
    return piece.replace("%7E", "~").replace("%2F", "/").replace("%25", "%")
