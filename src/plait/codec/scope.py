"""Whose values a data key is for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """A namespace, or one subject of it."""

    namespace: str
    subject: str | None = None
