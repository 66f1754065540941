"""What a dialect adds to the HTTP API: routes of its own, and how its definitions are saved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from .definition import NewDefinition
from .route import Answer, AnyRoute, Call, Fault
from .shape import Scoped


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """How `POST /definitions` saves definitions of one dialect."""

    handler: Callable[[Call[Any, Scoped, NewDefinition]], Awaitable[Answer]]
    """Answers 201 for something new, 200 for something that was there before."""
    shape: Any
    """Of the answer."""
    faults: tuple[Fault, ...]
    example: Any
    """A request body that works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    dialect: str
    host: object
    """What its handlers work on."""
    routes: tuple[AnyRoute, ...] = ()
    save: Save | None = None
