"""A fork: another run with the same history up to some event, perhaps with other steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plait.kernel.bundle import ForkPlan
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import RunId, caller_id

from .events import RefsForked
from .patching import check
from .plans import Plans
from .refs_run import RefsRun
from .state import split_id


def fork(run: RefsRun, source: RunId, at: int | str | None, edits: Mapping[str, Any], plans: Plans) -> ForkPlan:
    """`at` is the number of the last shared event, or a step to redo."""
    state = run.state
    last = state.end_seq - 1 if state.end_seq else state.seq
    upto = last if at is None else at if isinstance(at, int) else _before(run, at)
    if upto == last and state.end_seq and state.how:  # `refs.ended`: the fork decides anew how it ends
        upto -= 1
    if not 1 <= upto <= state.seq:
        raise InvalidInput("kernel.bad_fork", f"there is no event {upto}", fix=f"use 1 to {last}")
    if unknown := [key for key in edits if key != "operations"]:
        fix = 'use {"operations": [{"op": "replace_step", ...}]}'
        raise InvalidInput("kernel.bad_edit", f"edits have no part '{unknown[0]}'", fix=fix)
    operations = cast("list[dict[str, Any]]", edits.get("operations") or [])
    if operations:
        check(run, operations, plans)
    return ForkPlan(upto, RefsForked(caller_id(source), upto, operations))


def _before(run: RefsRun, id: str) -> int:
    """The number of the event before the step was started."""
    work = run.find(*split_id(id))
    if work is None or not work.began:
        raise InvalidInput("kernel.bad_fork", f'step "{id}" has not begun', fix="name one that has, or an event")
    return work.began - 1
