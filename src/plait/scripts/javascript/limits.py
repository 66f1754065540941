"""What one call of a script may take."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TEXT = 256 * 1024
"""Bytes of a script."""


@dataclass(frozen=True, slots=True)
class JavaScriptLimits:
    seconds: float = 10.0
    """Of the clock on the wall, from the moment a worker has it; waiting for a worker does not count."""
    memory: int = 64 * 1024 * 1024
    """Bytes of its heap, its input among them."""
    stack: int = 1024 * 1024
    """Bytes."""
    result: int = 10 * 1024 * 1024
    """Bytes of the result as JSON."""
    lines: int = 1000
    """Lines that it prints; what is over is dropped, and the log says so."""
    printed: int = 64 * 1024
    """Bytes of all these lines."""


DEFAULT = JavaScriptLimits()
