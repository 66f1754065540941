"""The limits of one Lua script."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TEXT = 64 * 1024
"""Bytes of a script."""


@dataclass(frozen=True, slots=True)
class LuaLimits:
    """The limits of one run of a script."""

    seconds: float = 5.0
    """Wall-clock time from the moment a worker has it; waiting for a worker does not count."""
    memory: int = 64 * 1024 * 1024
    """Bytes of its values, including its arguments."""
    instructions: int = 100_000_000
    """Approximate instructions of the Lua VM: counted in thousands, plus a thousand for each coroutine."""
    result: int = 1024 * 1024
    """Bytes of the result as JSON."""
    lines: int = 1000
    """Lines that it prints; the rest is dropped, with a note in the log."""
    printed: int = 64 * 1024
    """Bytes of all printed lines together."""


DEFAULT = LuaLimits()
