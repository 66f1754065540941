"""Names of recorded steps: predictable, so that a caller can refer to a result without being told its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from plait.dialects.refs.definition.rules.names import is_step_name
from plait.dialects.refs.references.heads import RESERVED

_OTHER: Final = re.compile(r"[^a-z0-9_]")
_RUNS: Final = re.compile(r"_+")
_NUMBERED: Final = re.compile(r"(?P<base>.+)_(?P<number>[1-9][0-9]*)")
_LONGEST: Final = 48
_NAMELESS: Final = "tool"
_DIGITS: Final = 9
"""The most digits of a number that a caller may have chosen."""


def base_of(tool: str) -> str:
    """The bare name of a tool, without its server, as a step name."""
    joined = _RUNS.sub("_", _OTHER.sub("_", tool.lower()))
    found = f"t_{joined}" if joined[:1].isdigit() else joined
    return found[:_LONGEST].rstrip("_") or _NAMELESS


def next_number(base: str, counters: Mapping[str, int]) -> int:
    """The next number: numbers count up by arrival and are never reused, even if a step was removed."""
    return counters.get(base, 0) + 1


def numbered(base: str, number: int) -> str:
    return f"{base}_{number}"


def counted(name: str, counters: Mapping[str, int]) -> dict[str, int]:
    """The counters after a step got this name, whoever chose it: `get_user_7` makes 8 the next `get_user`."""
    found = _NUMBERED.fullmatch(name)
    if found is None:
        return {**counters}
    base, number = found["base"], int(found["number"][:_DIGITS])
    return {**counters, base: max(number, counters.get(base, 0))}


def name_flaw(name: str) -> str | None:
    """The code of the flaw that makes this an invalid step name, or None."""
    if name in RESERVED:
        return "reserved_name"
    return None if is_step_name(name) else "bad_name"
