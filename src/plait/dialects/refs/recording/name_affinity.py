"""Whether a place is named after a value that could fill it: `userId` after `id` in the result of `get_user`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .sources import Place

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def is_named_after(pointer: Sequence[str], place: Place) -> bool:
    """`pointer` is the place, as keys."""
    wanted, field = _normal(name_of(pointer)), _normal(name_of(place.path))
    if not wanted:
        return False
    subject = "".join(_words(place.tool)[1:])
    return wanted == field or (bool(subject) and wanted == subject + field)


def name_of(path: Sequence[str]) -> str:
    """The last part that is a name: for the items of a list, that of the list."""
    return next((part for part in reversed(path) if not part.isdecimal()), "")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _normal(name: str) -> str:
    return "".join(_words(name))
