"""The scope of a data key: whose values it seals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """A namespace, or one subject of it."""

    namespace: str
    subject: str | None = None
