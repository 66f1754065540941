"""Cleans ids in bodies, as Argyll's clients expect; refuses an id of which nothing is left."""

from __future__ import annotations

from typing import Any, cast

from plait.dialects.goals.steps.step import clean
from plait.kernel.errors import InvalidInput


def cleaned(sent: object, field: str) -> str:
    found = clean(sent) if isinstance(sent, str) else ""
    if not found:
        raise InvalidInput(
            "mount.bad_id",
            f"'{field}' is not a valid id",
            why="it has no characters that are allowed",
            fix="use a-z, 0-9, _ . + and -",
        )
    return found


def cleaned_list(sent: object, field: str) -> object:
    """Cleans a list of ids. A value that is not a list stays as it is: reading the whole body reports it."""
    if not isinstance(sent, list):
        return sent
    return [cleaned(each, field) for each in cast("list[Any]", sent)]
