"""A fork: another run with the same history up to the end of some iteration."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, cast

from plait.kernel import values
from plait.kernel.bundle import ForkPlan
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import RunId, caller_id
from plait.kernel.values import ABSENT

from .afl_run import AflRun
from .events import AflForked
from .nodes import path_of

_PARTS = ("input", "results")


def fork(run: AflRun, source: RunId, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
    """`at` is the number of an event, rounded down to the end of an iteration, or a step to redo."""
    if unknown := [key for key in edits if key not in _PARTS]:
        raise InvalidInput("kernel.bad_edit", f"edits have no part '{unknown[0]}'", fix='use "input" or "results"')
    if "input" in edits:
        given: Any = edits["input"]
        if not isinstance(given, dict):
            raise InvalidInput("kernel.bad_edit", "the input is not an object", fix='use {"input": {...}}')
        return ForkPlan(1, AflForked(caller_id(source), 1, {}, values.encode(cast("object", given))))
    upto = _rounded(run, at)
    results = cast("Mapping[str, Any]", edits.get("results") or {})
    answers = {_open_event(run, path, upto): _object(path, found) for path, found in results.items()}
    return ForkPlan(upto, AflForked(caller_id(source), upto, answers, ABSENT))


def _rounded(run: AflRun, at: int | str | None) -> int:
    ends, state = run.state.iterations_at, run.state
    last = state.end_seq - 1 if state.end_seq else state.seq
    if isinstance(at, str):
        return _before(run, at)
    wanted = last if at is None else at
    if not 1 <= wanted <= state.seq:
        raise InvalidInput("kernel.bad_fork", f"there is no event {wanted}", fix=f"use 1 to {last}")
    place = bisect_right(ends, wanted)
    while place and at is None and state.end_seq and ends[place - 1] >= last:
        place -= 1  # the iteration that ended it is redone
    return ends[place - 1] if place else 1


def _before(run: AflRun, step: str) -> int:
    """The end of the iteration before the one that created a step."""
    for id, node in run.nodes.items():
        if step in (id, path_of(node)):
            return run.state.iterations_at[node.record.created_in - 2] if node.record.created_in > 1 else 1
    raise InvalidInput("kernel.bad_fork", f"there is no step '{step}'", fix="name one that has begun, or an event")


def _open_event(run: AflRun, path: str, upto: int) -> str:
    for event in run.state.events.values():
        is_open = event.opened <= upto and (not event.closed or event.closed > upto)
        if is_open and path in (event.step_id, path_of(run.nodes[event.step_id])):
            return event.event_id
    raise InvalidInput("kernel.bad_edit", f"no event of step '{path}' is open there", fix="name one that is")


def _object(path: str, found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InvalidInput("kernel.bad_edit", f"the result of '{path}' is not an object", fix="use {...}")
    return cast("dict[str, Any]", found)
