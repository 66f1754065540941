"""What one Lua script may take."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TEXT = 64 * 1024
"""Bytes of a script."""


@dataclass(frozen=True, slots=True)
class LuaLimits:
    """What one run of a script may take."""

    seconds: float = 5.0
    """Of the clock on the wall, from the moment a worker has it; waiting for a worker does not count."""
    memory: int = 64 * 1024 * 1024
    """Bytes that its values take, its arguments among them."""
    instructions: int = 100_000_000
    """Of Lua's machine, about: they are counted by the thousand, and a coroutine counts as a thousand more."""
    result: int = 1024 * 1024
    """Bytes of the result as JSON."""
    lines: int = 1000
    """Lines that it prints; what is over is dropped, and the log says so."""
    printed: int = 64 * 1024
    """Bytes of all these lines."""


DEFAULT = LuaLimits()
