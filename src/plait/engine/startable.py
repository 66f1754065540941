"""What an engine is given to start: definitions, and modules that hold some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

from plait.kernel.bundle import Reference, Resolved
from plait.kernel.errors import InvalidInput


def asked(definition: object, resolved: Resolved) -> str:
    """What a run was asked for by, where that says more than its name."""
    name = definition.definition if isinstance(definition, Reference) else definition
    return name if isinstance(name, str) and name != resolved.definition else ""


def flat(definitions: Iterable[object]) -> Iterator[object]:
    """With what modules hold in place of the modules."""
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
