"""Numbers with their nouns."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 run`, `2 runs`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
