"""The final answer of a model: parsed and checked. The reason for a rejection goes back to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from plait.conditions.schema import misfits
from plait.kernel import values
from plait.kernel.errors import PlaitError

from .model import Finish

_MOST_FLAWS = 5
_SHAPE = 'answer with one JSON object: {"output": …, "next_nodes": […], "reasoning": "…"}'


class BadAnswer(Exception):
    """The message is written for the model."""


class FinalAnswer(msgspec.Struct, frozen=True):
    output: Any
    next_nodes: list[str] | None = None
    reasoning: str = ""


def read_answer(text: str, finish: Finish, schema: Mapping[str, Any] | None) -> FinalAnswer:
    """Does not check whether the targets are allowed; routing does. Telling the model about it would let a forged
    target be retried until it looks valid."""
    if finish == "length":
        raise BadAnswer("the answer was cut off: it is longer than max_tokens; give a shorter one")
    if finish == "refused":
        raise BadAnswer("the answer was refused; answer within the rules, or say in `output` why you can't")
    found = _object(text)
    if found is None or "output" not in found:
        if schema is None:
            return FinalAnswer({"text": text})
        raise BadAnswer(f"this is not the JSON that is wanted; {_SHAPE}")
    flaws = [] if schema is None else _flaws(found, schema)
    targets, reasoning = found.get("next_nodes"), found.get("reasoning")
    if not _is_names(targets):
        flaws.append("/next_nodes: must be a list of names")
    if not isinstance(reasoning, str | None):
        flaws.append("/reasoning: must be text")
    if flaws:
        raise BadAnswer("the answer does not fit its schema: " + "; ".join(flaws[:_MOST_FLAWS]))
    return FinalAnswer(found["output"], targets, reasoning or "")


def _object(text: str) -> dict[str, Any] | None:
    """Models like to wrap JSON in a code fence."""
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        found: Any = values.decode(values.encode(msgspec.json.decode(stripped)))
    except (msgspec.DecodeError, PlaitError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _flaws(found: dict[str, Any], schema: Mapping[str, Any]) -> list[str]:
    output = cast("Mapping[str, Any]", schema["properties"])["output"]
    if not output:
        return []
    wrong = misfits(values.encode(output), found["output"])
    return [f"/output{each.pointer}: {each.message}"[:300] for each in wrong]


def _is_names(targets: object) -> bool:
    return targets is None or (
        isinstance(targets, list) and all(isinstance(each, str) for each in cast("list[Any]", targets))
    )
