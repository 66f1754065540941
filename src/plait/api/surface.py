"""What a dialect adds to the HTTP API: its routes, and how its definitions are saved; and the modules it is in."""

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
    """Answers 201 for a new definition, 200 for one that existed."""
    shape: Any
    """The shape of the answer."""
    faults: tuple[Fault, ...]
    example: Any
    """An example of a valid request body."""


def surface_module(dialect: str, surface: str, part: Literal["routes", "commands", "mcp_tools"]) -> ModuleType | None:
    """Imports the module of a dialect's surface with its routes, commands or MCP tools; None if it has none."""
    name = f"{surface}.{part}"
    try:
        return import_module(name) if find_spec(name) is not None else None
    except PlaitError:
        raise
    except Exception as error:  # a user's module may raise anything
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
    """The object that its handlers work on."""
    routes: tuple[AnyRoute, ...] = ()
    save: Save | None = None
