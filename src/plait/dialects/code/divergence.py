"""Messages for code that does not fit its history or makes no progress, with what to do about it."""

from __future__ import annotations

import json
import traceback
from typing import Any

from plait.kernel.ids import RunId, caller_id

from .deterministic_loop import TurnTask
from .errors import WorkflowCodeError
from .events import Kind, RunBlocked
from .host import MAX_CALLBACKS
from .location import parse
from .op import Op
from .op_state import OpState


def diverged(
    run_id: RunId, at: str, expected: str, found: str, kind: Kind, asked: str | None, *, there: bool = False
) -> RunBlocked:
    """The history has `expected` at `at`, of this kind; the code reached `found`, and asked for `asked`. With `there`,
    it asked under the same name, which can't be used twice: so a gate needs another name than what it guards."""
    name = str(parse(at)[-1])
    removed = f'`await ctx.removed({_quoted(name)}, "{kind}")`'
    gate = f"`if await ctx.version({_quoted(f'with {asked}' if asked else f'before {name}')}, 2) >= 2:`"
    if there:
        advice = f"Give the new one another name, after {removed}. Or keep both, the old one in the `else` of {gate}"
    else:
        advice = f"Renamed or deleted: {removed}. New code before it: {gate}"
    fix = f"run {caller_id(run_id)}: history has {expected}, the code asked for {found}. {advice}"
    return RunBlocked("CODE_DIVERGED", at, expected, found, fix)


def _quoted(name: str) -> str:
    """A Python string literal."""
    return json.dumps(name, ensure_ascii=False)


def no_handler(run_id: RunId, update: OpState) -> RunBlocked:
    """The history has an update that the code has no handler for."""
    [name] = update.names or [""]
    found = f"no handler for update `{name}`"
    fix = (
        f"run {caller_id(run_id)}: history has update `{name}`, the code has {found}. "
        f'Renamed or deleted: `await ctx.removed({_quoted(name)}, "update")`, before the first thing that it waits for'
    )
    return RunBlocked("CODE_DIVERGED", update.at, f"update `{name}`", found, fix)


def undecodable(op: Op[Any], why: str) -> RunBlocked:
    """A recorded result does not fit the type that the code now expects."""
    fix = "make the type fit what was recorded, or fork with an edited result"
    return RunBlocked("CODE_DECODE", op.at, str(op.returns), why, fix)


def end_of(main: TurnTask) -> str:
    """How the function ended before it asked for everything recorded."""
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
