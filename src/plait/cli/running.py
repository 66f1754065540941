"""`plait run`: a workflow, from the command line, to its end."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from plait.code import Workflow
from plait.engine import Engine, Handle
from plait.errors import HistoryDivergedError, PlaitError, RunFailed
from plait.kernel.errors import ErrorInfo, InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, RunId, run_key, shard_of
from plait.kernel.store import RunRow

from . import exits, progress
from .errors import tell
from .loading import load_workflow
from .options import DEFAULT_DB, Db, Json, Namespace, read_json, read_pairs
from .output import document, emit, note, say
from .session import do, working
from .words import value

End = Literal["completed", "failed", "cancelled", "blocked"]

_EXITS: dict[End, int] = {
    "completed": exits.OK,
    "failed": exits.FAILED,
    "cancelled": exits.CANCELLED,
    "blocked": exits.BLOCKED,
}


_PARKED = {"message", "sleep", "approval", "child", "blocked"}
"""Reasons for which a run waits on disk, where new code does not reach it."""


@dataclass(slots=True)
class Order:
    """What the command line asked for."""

    target: str
    input: str | None
    id: str | None
    db: str
    deadline: float | None
    labels: dict[str, str]
    namespace: str
    json: bool

    def again(self) -> str:
        """The command that goes on with the run."""
        words = ["plait", "run", self.target, "--id", self.id or ""]
        if self.input is not None:
            words += ["--input", self.input]
        if self.namespace != DEFAULT_NAMESPACE:
            words += ["--namespace", self.namespace]
        if self.db != DEFAULT_DB:
            words += ["--db", self.db]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Outcome:
    status: End
    output: Any = None
    error: PlaitError | None = None
    info: ErrorInfo | None = None


def run(
    target: Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="The workflow.", show_default=False)],
    input: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="Its input; @- reads stdin.", show_default="none")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The run's id; if it exists, it goes on.", show_default="made"),
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="The run fails when it takes longer.", show_default="none")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A label; repeatable.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Run a workflow to its end, with live progress. The output goes to stdout, the progress to stderr.

    The function is looked for from the current folder: app:order, or path/to/file.py:order. Stop it when you like,
    even with kill -9: the same command with the same --id goes on where it was.
    """
    module, workflow = load_workflow(target)
    if deadline is not None and not 0 < deadline < 100 * 365 * 86_400:
        raise InvalidInput("cli.bad_deadline", f"--deadline {deadline:g}", fix="use seconds, more than 0")
    order = Order(target, input, id, db, deadline, read_pairs(label or [], "--label"), namespace, json)
    given = read_json(input, "the input") if input is not None else None
    try:
        outcome = do(_run(order, [module, workflow], workflow, given))
    except KeyboardInterrupt:
        _interrupted(order)
        raise typer.Exit(exits.INTERRUPTED) from None
    _say(order, workflow, outcome)
    raise typer.Exit(_EXITS[outcome.status])


async def _run(order: Order, definitions: list[object], workflow: Workflow[..., Any], given: Any) -> Outcome:
    async with working(order.db, definitions) as engine:
        known = await _known(engine, order)
        handle = await _start(engine, order, workflow, given, known)
        order.id, key = handle.id, run_key(order.namespace, handle.id)
        if not order.json:
            note(f"run {handle.id} of {workflow.label} in {order.db}", "bright_black")
            if not engine.kernel.owns(key):
                note("another engine works on this database: the run goes on there, with the code it has loaded")
        if known is not None:
            await _take_up(engine, handle, key)
        ending = asyncio.ensure_future(_outcome(handle))
        screen = progress.Silent() if order.json else progress.screen(handle.id, workflow.label)
        try:
            await progress.watch(handle, ending, screen)
        finally:
            ending.cancel()
        return await ending


async def _known(engine: Engine, order: Order) -> RunRow | None:
    if order.id is None:
        return None
    return await engine.kernel.store.run(run_key(order.namespace, order.id))


async def _start(
    engine: Engine, order: Order, workflow: Workflow[..., Any], given: Any, known: RunRow | None
) -> Handle[Any]:
    """A run that is known need not be told its input again; what is another run's is refused by `engine.start`."""
    same = known is not None and (known.definition, known.version) == (workflow.name, workflow.version)
    if order.id is not None and same and order.input is None:
        return await engine.get(order.id, order.namespace)
    return await engine.start(
        workflow, given, id=order.id, namespace=order.namespace, deadline=order.deadline, labels=order.labels
    )


async def _take_up(engine: Engine, handle: Handle[Any], run: RunId) -> None:
    """A run from before: first what it was told while no engine ran, for it may end or reopen it. Then it is played
    on the code as it is now, which may fit better or worse than the code it knew."""
    store, shard = engine.kernel.store, shard_of(run)
    while engine.kernel.owns(run) and any(  # noqa: ASYNC110 -- the store gives nothing to wait for
        row.run_id == run for row in await store.inbox([shard], 1000)
    ):
        await asyncio.sleep(0.01)
    reasons = {reason.kind for reason in await handle.waiting()}
    if reasons and reasons <= _PARKED and engine.kernel.owns(run):
        await handle.retry()  # does nothing to a run that is well; one that is not parked has been played already


async def _outcome(handle: Handle[Any]) -> Outcome:
    try:
        return Outcome("completed", await handle.result())
    except RunFailed as error:
        status: End = "cancelled" if error.run_status == "cancelled" else "failed"
        return Outcome(status, error=error, info=error.error)
    except HistoryDivergedError as error:
        return Outcome("blocked", error=error, info=error.error)


def _say(order: Order, workflow: Workflow[..., Any], outcome: Outcome) -> None:
    if order.json:
        fields = document(
            id=order.id,
            namespace=order.namespace,
            definition=workflow.name,
            version=workflow.version,
            status="running" if outcome.status == "blocked" else outcome.status,
            error=None if outcome.status == "blocked" else outcome.info,
            blocked=outcome.info if outcome.status == "blocked" else None,
        )
        emit(fields | ({"output": outcome.output} if outcome.status == "completed" else {}))
    elif outcome.error is None:
        say(value(outcome.output))
    else:
        tell(_with_fix(order, outcome.status, outcome.error), json=False)


def _with_fix(order: Order, status: End, error: PlaitError) -> PlaitError:
    fixes = {
        "failed": f"when the cause is gone: plait retry {order.id}, then {order.again()}",
        "blocked": f"put that line into the code, then: {order.again()}",
    }
    why = "" if error.why == status else error.why  # a cancel without a reason
    return PlaitError(error.code, error.what, why=why, fix=error.fix or fixes.get(status, ""))


def _interrupted(order: Order) -> None:
    if order.id is None:
        note("interrupted before the run was started")
    else:
        note(f"interrupted: run {order.id} is kept in {order.db}. To go on:\n  {order.again()}")
