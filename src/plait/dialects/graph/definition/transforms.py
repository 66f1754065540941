"""How a `transform` computes its output: a template, a CEL expression, a pipeline over its payload, or a script.
Code is never a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from plait.agents.pipelines.reading import examine
from plait.definitions.flaws import Note, parts_of
from plait.extras import extra
from plait.scripts.errors import CompileError

from .read import Placed
from .templates import parse

TYPE: Final = "transform"
SEES: Final = ("payload", "output", "ctx", "input")
"""The names that an expression may use; `output` is the payload, as in conditions."""
SCRIPT_SEES: Final = ("payload", "input", "context")
"""The parameters of a script."""
_CODE: Final = "graph.bad_config"
_FILLED: Final = ("output", "pipeline")


class Compiler(Protocol):
    """Compiles scripts."""

    async def check(self, language: Any, script: str, names: Sequence[str]) -> None: ...


def script_of(config: Mapping[str, Any]) -> tuple[str, str]:
    """Language and text of a script."""
    script: Any = config.get("script")
    if isinstance(script, str):
        return str(config.get("language", "ale")), script
    written = cast("Mapping[str, Any]", script)
    return str(written.get("language", config.get("language", "ale"))), str(written.get("code", ""))


def templated(type: str, config: dict[str, Any]) -> dict[str, Any]:
    """The part of a config in which templates are filled in."""
    return {name: value for name, value in config.items() if name in _FILLED} if type == TYPE else config


def transform_flaws(placed: Placed, config: Mapping[str, Any]) -> Iterator[Note]:
    at, id = f"{placed.pointer}/config", placed.node.id
    if "pipeline" in config:
        yield from _pipeline(config["pipeline"], f"{at}/pipeline", id)
    if isinstance(text := config.get("cel"), str):
        yield from _expression(text, f"{at}/cel", id)


def _pipeline(steps: Any, pointer: str, id: str) -> Iterator[Note]:
    """What a template will fill in can only be checked when the node runs."""
    for note in examine(steps)[1]:
        if not parse(_value_at(steps, note.pointer)).holes:
            yield Note(f"{pointer}{note.pointer}", f"`{id}`: config.pipeline: {note.what}", note.fix, _CODE)


def _value_at(steps: Any, pointer: str) -> Any:
    found: Any = steps
    for part in parts_of(pointer):
        if isinstance(found, list):
            found = cast("list[Any]", found)[int(part)]
        else:
            found = cast("Mapping[str, Any]", found).get(part) if isinstance(found, dict) else None
    return None if isinstance(found, dict | list) else found


def _expression(text: str, pointer: str, id: str) -> Iterator[Note]:
    with extra("scripts", "graph"):
        from plait.conditions.cel import CelSyntaxError, Expression
    try:
        Expression(text, SEES)
    except CelSyntaxError as error:
        yield Note(pointer, f"`{id}`: config.cel: {error.message}", error.fix, _CODE)


async def script_flaw(id: str, pointer: str, config: Mapping[str, Any], compiler: Compiler) -> Note | None:
    language, text = script_of(config)
    try:
        await compiler.check(language, text, SCRIPT_SEES)
    except CompileError as error:
        line = f", line {error.line}" if error.line else ""
        what = f"`{id}`: config.script{line}: {error.message}"
        return Note(f"{pointer}/config/script", what, error.fix or f"it sees {', '.join(SCRIPT_SEES)}", _CODE)
    return None
