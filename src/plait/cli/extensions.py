"""What all dialects add to the command line. The built-in dialects' commands are listed without importing them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plait.registry.surfaces import SURFACES

from . import own_dialects
from .command import Command

if TYPE_CHECKING:
    from .extension import Extension


def contributed() -> Iterator[Command]:
    """Returns the commands of all dialects."""
    for surface in SURFACES.values():
        yield from import_module(f"{surface}.commands").commands
    for dialect, surface in own_dialects.surfaces().items():
        yield from getattr(_own_commands(dialect, surface), "commands", ())


def dialects() -> list[str]:
    return [*SURFACES, *own_dialects.surfaces()]


def extensions() -> list[Extension]:
    return [extension_of(dialect) for dialect in dialects()]


def extension_of(dialect: str) -> Extension:
    """Returns a dialect's extension; the defaults for one without, or one that only a newer server has."""
    if dialect in SURFACES:
        return _known_extension(dialect)
    from .extension import Extension

    place = getattr(_own_commands(dialect, own_dialects.surfaces().get(dialect, "")), "extension", None)
    return Extension() if place is None else load(place)()


@cache
def _known_extension(dialect: str) -> Extension:
    return load(import_module(f"{SURFACES[dialect]}.commands").extension)()


def _own_commands(dialect: str, surface: str) -> object:
    from plait.api.surface import surface_module

    return surface_module(dialect, surface, "commands") if surface else None


def load(place: str) -> Any:
    """Returns the object named by `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
