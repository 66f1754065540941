"""What one run of Python code may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PythonLimits:
    seconds: float = 5.0
    """Of running, from the moment a worker has it; waiting for a worker does not count."""
    memory: int = 64 * 1024 * 1024
    """Bytes that its values take, its arguments among them; the interpreter itself does not count."""


DEFAULT = PythonLimits()
