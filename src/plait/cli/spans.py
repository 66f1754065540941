"""Parses times and durations as people write them on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from plait.kernel.errors import InvalidInput
from plait.kernel.ids import Millis

_SPAN = re.compile(r"(\d{1,6})\s*(s|m|h|d)")
_MILLIS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def read_span(text: str, option: str) -> Millis:
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InvalidInput("cli.bad_age", f"{option} {text!r} is no time", fix="write 30d, 12h, 5m or 90s")
    return Millis(int(found[1]) * _MILLIS[found[2]])


def read_moment(text: str, option: str) -> datetime:
    """Parses a time. Without an offset it is UTC, as everywhere in Plait."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(
            "cli.bad_time", f"{option} {text!r} is no time", fix="write 2026-11-18, 2026-11-18T05:00 or …T05:00+01:00"
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
