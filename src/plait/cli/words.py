"""Formats times, durations, values and counts in words."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from plait.kernel.agent_totals import AgentTotals
from plait.kernel.counted import counted as counted
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.moment import utc
from plait.kernel.view import Reason

_BRIEF = 300
"""Characters of a text in a table."""


def now() -> Millis:
    return Millis(time.time_ns() // 1_000_000)


def clock(at: Millis | None) -> str:
    """Formats a time in UTC, as everywhere in Plait."""
    return "" if at is None else utc(at)


def duration(ms: int) -> str:
    if ms < 1000:
        return f"{max(ms, 0)} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def ago(at: Millis, current: Millis) -> str:
    """Formats the age of a moment, short enough for a table."""
    ms = current - at
    if ms < 0:
        return "in the future"
    if ms < 60_000:
        return f"{ms // 1000} s ago"
    if ms < 3_600_000:
        return f"{ms // 60_000} min ago"
    if ms < 48 * 3_600_000:
        return f"{ms // 3_600_000} h ago"
    return f"{ms // 86_400_000} d ago"


def size(count: int) -> str:
    for unit, bytes in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= bytes:
            return f"{count / bytes:.1f} {unit}"
    return f"{count} bytes"


def value(found: Any, limit: int | None = None) -> str:
    """Formats a JSON value in one line, cut at `limit` characters."""
    text = msgspec.json.encode(found).decode()
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def failure(error: ErrorInfo) -> str:
    """Formats an error; an exception from user code with its class, notes, parts and cause."""
    name = error.type.rpartition(":")[2]
    plain = not name or name in error.message or error.kind != "error"
    text = error.message if plain else f"{name}: {error.message}"
    if error.kind != "error":  # its message is enough
        return text
    more = [*error.notes, *(failure(part) for part in error.parts.values())]
    text += f" ({'; '.join(more)})" if more else ""
    return text if error.cause is None else f"{text}, because of {failure(error.cause)}"


def wait(reason: Reason) -> str:
    """Formats what a run waits for, and until when, short enough for a table."""
    text = reason.text.replace("`", "")
    if reason.until is None:
        return text
    return f"{text} {'at' if reason.kind == 'retry' else 'until'} {clock(reason.until)}"


def model_use(agents: AgentTotals) -> str:
    """Formats what agents used in a run. An unknown price is not zero, and an attempt in progress counts at its end."""
    if not agents.tokens:
        return counted(agents.attempts, "attempt")
    cost = "cost unknown" if agents.cost_usd is None else f"{agents.cost_usd:.6f} USD"
    return f"{counted(agents.attempts, 'attempt')}, {counted(agents.tokens, 'token')}, {cost}"


def quoted(title: str) -> str:
    """Quotes a title, which may contain quotation marks around names."""
    return f"“{title}”" if "`" in title else f"`{title}`"


def one_line(text: str) -> str:
    return " ".join(text.split())


def brief(text: str) -> str:
    """Formats a text for a column of a table: in one line, and cut where it is long."""
    line = one_line(text)
    return line if len(line) <= _BRIEF else line[: _BRIEF - 1] + "…"
