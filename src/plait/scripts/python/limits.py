"""The limits of one run of Python code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PythonLimits:
    seconds: float = 5.0
    """Seconds of run time from the moment a worker has it; waiting for a worker does not count."""
    memory: int = 64 * 1024 * 1024
    """Bytes of its values, including its arguments; the interpreter itself does not count."""


DEFAULT = PythonLimits()
