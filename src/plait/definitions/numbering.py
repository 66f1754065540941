"""Numbers a version that is saved without a label, given the existing ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, assert_never

from plait.kernel.definitions import Numbering

MAIN: Final = "main"
"""The tag on the version that a plain name means, where versions are numbered by `minor`."""

_LABEL = re.compile(r"v([1-9]\d{0,8})\.(0|[1-9]\d{0,8})")


def next_label(numbering: Numbering, taken: Iterable[str], base: str | None, *, breaking: bool = False) -> str:
    """Returns the next label. `base`: the version that the new one follows. A version that was undone keeps its label;
    none is used twice."""
    match numbering:
        case "count":
            return _next_number({*taken})
        case "minor":
            return _next_minor({*taken}, base, breaking=breaking)
        case _:
            assert_never(numbering)


def _next_number(taken: set[str]) -> str:
    number = len(taken) + 1
    while str(number) in taken:
        number += 1
    return str(number)


def _next_minor(taken: set[str], base: str | None, *, breaking: bool) -> str:
    numbers = [(int(found[1]), int(found[2])) for label in taken if (found := _LABEL.fullmatch(label))]
    if not numbers:
        return "v1.0"
    if breaking:
        return f"v{max(numbers)[0] + 1}.0"
    found = None if base is None else _LABEL.fullmatch(base)
    major = max(numbers)[0] if found is None else int(found[1])
    return f"v{major}.{1 + max(minor for each, minor in numbers if each == major)}"
