"""Stored texts that definitions and types refer to."""

from __future__ import annotations

from typing import Protocol


class Texts(Protocol):
    async def load(self, references: frozenset[str], namespace: str) -> dict[str, str]:
        """Stored texts by reference; missing ones are left out."""
        ...
