"""Whether what a node gets and returns fits the schemas of its type."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.conditions.schema import misfits

_decode = msgspec.json.Decoder().decode


def first_misfit(schema: Raw, value: Raw) -> str:
    """The first misfit, with its place and reason; empty if the value fits."""
    found = next(iter(misfits(schema, _decode(value))), None)
    return "" if found is None else f"{found.message} (at {found.pointer or '/'})"
