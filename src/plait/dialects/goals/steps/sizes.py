"""The limits of size of a step, checked on what was sent, before its shape is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from plait.dialects.goals import limits
from plait.dialects.goals.errors import OverLimit
from plait.kernel import values

_SHOWN = 40


def check_sizes(data: dict[str, Any]) -> None:
    identifier = data.get("id")
    shown = str(identifier)[:_SHOWN] if identifier is not None else ""
    if isinstance(identifier, str) and len(identifier) > limits.ID_LENGTH:
        raise OverLimit(
            f"the id of step '{shown}…'", len(identifier), limits.ID_LENGTH, "characters", "choose a shorter id"
        )
    size = len(values.plain(data))
    if size > limits.STEP_BYTES:
        raise OverLimit(f"step '{shown}'", size, limits.STEP_BYTES, "bytes", "make it smaller")
    _check_count(f"step '{shown}'", data.get("labels"), limits.LABELS, "labels")
    flow = data.get("flow")
    if isinstance(flow, dict):
        _check_count(f"flow step '{shown}'", cast("dict[str, Any]", flow).get("goals"), limits.GOALS, "goals")
    if size > limits.SCRIPT_BYTES:
        _check_scripts(data, shown)


def _check_count(what: str, things: Any, limit: int, unit: str) -> None:
    count = len(cast("list[Any]", things)) if isinstance(things, dict | list) else 0
    if count > limit:
        raise OverLimit(what, count, limit, unit, "remove some")


def _check_scripts(data: dict[str, Any], shown: str) -> None:
    for text in _scripts(data):
        length = len(text.encode())
        if length > limits.SCRIPT_BYTES:
            raise OverLimit(f"a script of step '{shown}'", length, limits.SCRIPT_BYTES, "bytes", "shorten or split it")


def _scripts(value: Any) -> Iterator[str]:
    """Every text under a key `script`, wherever it stands: main script, predicate, match, mapping."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if key == "script" and isinstance(inner, str):
                yield inner
            elif key not in ("labels", "run"):
                yield from _scripts(inner)
