"""What all dialects add to the command line. Their commands are listed without importing the dialects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plait.registry.surfaces import SURFACES

from .command import Command

if TYPE_CHECKING:
    from .extension import Extension


def contributed() -> Iterator[Command]:
    """The commands of all dialects."""
    for surface in SURFACES.values():
        yield from import_module(f"{surface}.commands").commands


def dialects() -> list[str]:
    return list(SURFACES)


def extensions() -> list[Extension]:
    return [extension_of(dialect) for dialect in SURFACES]


@cache
def extension_of(dialect: str) -> Extension:
    """Of a dialect that this Plait does not have, for one of a newer server: the defaults."""
    from .extension import Extension

    if dialect not in SURFACES:
        return Extension()
    return load(import_module(f"{SURFACES[dialect]}.commands").extension)()


def load(place: str) -> Any:
    """What `module:name` names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
