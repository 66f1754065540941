"""The printed path of an operation, read: its parts, and the words that people see."""

from __future__ import annotations


def path_words(path: str) -> str:
    """`items/~1/ship` is "items / loop 2 / ship"."""
    parts = map(read_part, path.split("/"))
    return " / ".join(f"loop {part + 1}" if isinstance(part, int) else part for part in parts)


def read_part(piece: str) -> str | int:
    """A name, or the number of an iteration."""
    if piece.startswith("~") and piece[1:].isdigit():
        return int(piece[1:])
    return piece.replace("%7E", "~").replace("%2F", "/").replace("%25", "%")
