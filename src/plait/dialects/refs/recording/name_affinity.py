"""Whether a place is named after the value that would be put there: `userId` after `id` of what `get_user` gave."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .sources import Place

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def is_named_after(pointer: Sequence[str], place: Place) -> bool:
    """`pointer`: where the value would be put, as keys."""
    wanted, field = _normal(name_of(pointer)), _normal(name_of(place.path))
    if not wanted:
        return False
    subject = "".join(_words(place.tool)[1:])
    return wanted == field or (bool(subject) and wanted == subject + field)


def name_of(path: Sequence[str]) -> str:
    """The last part that is a name: that of a list, for its items."""
    return next((part for part in reversed(path) if not part.isdecimal()), "")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _normal(name: str) -> str:
    return "".join(_words(name))
