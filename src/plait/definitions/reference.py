"""References to definitions in text: `order`, or `order@` and a version, a tag or the beginning of a hash."""

from __future__ import annotations

from typing import NamedTuple


class DefinitionRef(NamedTuple):
    name: str
    at: str | None = None
    """A version, a tag or the beginning of a hash; None for the newest."""

    def __str__(self) -> str:
        return self.name if self.at is None else f"{self.name}@{self.at}"


def parse(text: str) -> DefinitionRef:
    """Parses any text; one that names nothing will simply not be found."""
    name, _, at = text.partition("@")
    return DefinitionRef(name, at or None)
