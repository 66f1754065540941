"""Whether the server is alive, and whether it is ready."""

from __future__ import annotations

from typing import Literal

from .shape import Shape


class Health(Shape, frozen=True, kw_only=True):
    """Read by Argyll's clients, too."""

    service: Literal["plait"]
    status: Literal["healthy"]
    details: dict[str, str]
    version: str


class Ready(Shape, frozen=True, kw_only=True):
    status: Literal["ready"]
