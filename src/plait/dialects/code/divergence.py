"""What is wrong when the code does not fit its history, or gets nowhere, in words that say what to do."""

from __future__ import annotations

import traceback

from plait.kernel.ids import RunId, caller_id

from .deterministic_loop import TurnTask
from .errors import WorkflowCodeError
from .events import Kind, RunBlocked
from .host import MAX_CALLBACKS
from .location import parse


def diverged(run_id: RunId, at: str, expected: str, found: str, kind: Kind, asked: str | None) -> RunBlocked:
    """At `at` history has `expected`, an operation of that kind; the code came to `found`, and asked for `asked`."""
    name = parse(at)[-1]
    fix = (
        f"run {caller_id(run_id)}: history has {expected}, the code asked for {found}. "
        f'Renamed or deleted: `await ctx.removed("{name}", "{kind}")`. '
        f'New code before it: `if await ctx.version("{asked or name}", 2) >= 2:`'
    )
    return RunBlocked("CODE_DIVERGED", at, expected, found, fix)


def end_of(main: TurnTask) -> str:
    """How the function ended before all that is recorded was asked for."""
    error = None if main.cancelled() else main.exception()
    if error is None:
        return "the end of the workflow"
    where = traceback.extract_tb(error.__traceback__)[-1:]
    line = f" ({where[0].filename}:{where[0].lineno})" if where else ""
    return f"the end of the workflow, by {type(error).__name__}: {error}{line}"


def spinning(what: str) -> WorkflowCodeError:
    return WorkflowCodeError(
        "SPINNING",
        f"{what} goes round without a new operation",
        why=f"{MAX_CALLBACKS:,} callbacks ran and nothing was recorded",
        fix="wait with ctx.sleep or ctx.listen",
    )
