"""What a dialect adds to the HTTP API: routes of its own, and how its definitions are saved. And where it has that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal

from plait.kernel.errors import InvalidInput, PlaitError

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


def surface_module(dialect: str, surface: str, part: Literal["routes", "commands", "mcp_tools"]) -> ModuleType | None:
    """The module of a dialect's surface with its routes, commands or MCP tools; None if it has none of them."""
    name = f"{surface}.{part}"
    try:
        return import_module(name) if find_spec(name) is not None else None
    except PlaitError:
        raise
    except Exception as error:  # it may be a user's own, which may do anything
        raise InvalidInput(
            "surface.not_importable",
            f"the surface of the dialect `{dialect}` can't be imported",
            why=f"{name}: {type(error).__name__}: {error}",
            fix="correct `surface` of its bundle, or leave it empty",
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    dialect: str
    host: object
    """What its handlers work on."""
    routes: tuple[AnyRoute, ...] = ()
    save: Save | None = None
