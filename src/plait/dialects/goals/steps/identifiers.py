"""Ids of steps: what is one, and how the compatible mount makes one of what its clients send."""

from __future__ import annotations

import re
from typing import NewType

from plait.dialects.goals.limits import ID_LENGTH

StepId = NewType("StepId", str)

RULE = "use a-z, 0-9, _ . + and -, with no - at either end"

_VALID = re.compile(r"(?!-)[a-z0-9_.+-]+(?<!-)")
_DROPPED = re.compile(r"[^a-z0-9_.+-]")


def is_id(text: str) -> bool:
    return len(text) <= ID_LENGTH and _VALID.fullmatch(text) is not None


def clean(text: str) -> str:
    """Lower case, a space as `-`, other characters dropped, no `-` at the ends; may leave nothing."""
    return _DROPPED.sub("", text.lower().replace(" ", "-")).strip("-")
