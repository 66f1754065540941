"""What an engine is given to start: definitions, and modules that contain some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

from plait.kernel.bundle import Reference, Resolved
from plait.kernel.errors import InvalidInput


def asked(definition: object, resolved: Resolved) -> str:
    """The reference that a run was requested by, if it differs from the definition's name."""
    name = definition.definition if isinstance(definition, Reference) else definition
    return name if isinstance(name, str) and name != resolved.definition else ""


def flat(definitions: Iterable[object]) -> Iterator[object]:
    """Replaces modules by what they contain."""
    for definition in definitions:
        if isinstance(definition, ModuleType):
            yield from vars(definition).values()
        else:
            yield definition


def not_startable(definition: object) -> InvalidInput:
    return InvalidInput(
        "CODE_NOT_LOADED",
        f"{definition!r} is not something that can be started",
        fix="mark the function with @workflow, or ask for goals(...)",
    )
