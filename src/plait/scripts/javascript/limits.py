"""The limits of one call of a script."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TEXT = 256 * 1024
"""Bytes of a script."""


@dataclass(frozen=True, slots=True)
class JavaScriptLimits:
    seconds: float = 10.0
    """Wall-clock time from the moment a worker has it; waiting for a worker does not count."""
    memory: int = 64 * 1024 * 1024
    """Bytes of its heap, including its input."""
    stack: int = 1024 * 1024
    """Bytes of stack."""
    result: int = 10 * 1024 * 1024
    """Bytes of the result as JSON."""
    lines: int = 1000
    """Lines that it prints; the rest is dropped, with a note in the log."""
    printed: int = 64 * 1024
    """Bytes of all printed lines together."""


DEFAULT = JavaScriptLimits()
