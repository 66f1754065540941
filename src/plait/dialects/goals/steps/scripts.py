"""The scripts of a step, and the check that each compiles before the step is accepted.

The languages live elsewhere: whoever wires the dialect provides a `Compiler`. It raises `CompileError` with the line
and the reason; which script it was, and which inputs it may use, is added here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from plait.definitions.flaws import Note, escape
from plait.dialects.goals.errors import ScriptInvalid
from plait.scripts.errors import CompileError

from .attribute import Language, Script
from .step import Step

CANDIDATE = "value"
"""The name by which `match` scripts refer to the value they judge."""


class Compiler(Protocol):
    """Compiles without running, possibly in another process."""

    async def check(self, language: Language, script: str, names: Sequence[str]) -> None:
        """Raises `CompileError` if the script does not compile, uses an unknown name, or a name can't be bound."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A script, its location, and the names it may use, in the order in which it gets them."""

    pointer: str
    title: str
    language: Language
    script: str
    names: tuple[str, ...]


def scripts_of(step: Step) -> Iterator[Place]:
    if step.predicate is not None:
        predicate = step.predicate
        yield Place("/predicate/script", "predicate", predicate.language, predicate.script, step.arguments)
    if step.script is not None:
        yield _place("/script/script", "script", step.script, step.arguments)
    for name, attribute in step.attributes.items():
        detail = attribute.detail
        pointer = f"/attributes/{escape(name)}/{attribute.role}"
        if detail.match is not None:
            yield _place(f"{pointer}/match/script", f"match of '{name}'", detail.match, (CANDIDATE,))
        if detail.mapping is not None and detail.mapping.script is not None:
            names = (attribute.inner(name),)
            yield _place(f"{pointer}/mapping/script/script", f"mapping of '{name}'", detail.mapping.script, names)


def _place(pointer: str, title: str, script: Script, names: tuple[str, ...]) -> Place:
    return Place(pointer, title, script.language, script.script, names)


async def check_scripts(step: Step, compiler: Compiler) -> None:
    """Compiles every script of the step; raises `ScriptInvalid` with all that fail."""
    findings = [found for place in scripts_of(step) if (found := await _flaw(step, place, compiler)) is not None]
    if findings:
        raise ScriptInvalid(findings)


async def _flaw(step: Step, place: Place, compiler: Compiler) -> Note | None:
    try:
        await compiler.check(place.language, place.script, place.names)
    except CompileError as error:
        line = f", line {error.line}" if error.line else ""
        what = f"{place.title} of '{step.id}'{line}: {error.message}"
        return Note(place.pointer, what, error.fix or f"inputs: {', '.join(place.names) or 'none'}")
    return None
