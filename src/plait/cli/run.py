"""`plait run`: a workflow, or goals, from the command line, to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from plait.dialects.goals.definition import Goals
from plait.errors import PlaitError
from plait.kernel.errors import InvalidInput

from . import exits
from .advice import LOAD_FUNCTION
from .errors import tell
from .loading import load_target
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_inputs, read_json, read_pairs
from .output import document, emit, note, say
from .run_here import run_here
from .run_request import End, Order, Outcome
from .session import do, is_server, must_exist
from .words import value

_EXITS: dict[End, int] = {
    "completed": exits.OK,
    "failed": exits.FAILED,
    "cancelled": exits.CANCELLED,
    "blocked": exits.BLOCKED,
}


def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION|goals:STEP,…",
            help="The workflow (on a server, the NAME of one), or the steps to reach.",
            show_default=False,
        ),
    ],
    body: Annotated[
        str | None, typer.Argument(metavar="[JSON]", help="Its input, as --input.", show_default=False)
    ] = None,
    input: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JSON|@FILE|K=V",
            help="Its input; @- reads stdin. For goals, K=V too; repeatable.",
            show_default="none",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The run's id; if it exists, it goes on.", show_default="made"),
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="The run fails when it takes longer.", show_default="none")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A label; repeatable.")] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Run a workflow to its end, with live progress. The output goes to stdout, the progress to stderr.

    On a database, this process does the work: the function is looked for from the current folder: app:order, or
    path/to/file.py:order. Stop it when you like, even with kill -9: the same command with the same --id goes on where
    it was. A server runs what it has loaded: give the workflow's name.

    goals:STEP plans from the catalog of the database or the server, and runs what STEP needs. app:STEP does the same
    with the steps that app declares, and their functions.
    """
    goals = read_goals(target)
    if deadline is not None and not 0 < deadline < 100 * 365 * 86_400:
        raise InvalidInput("cli.bad_deadline", f"--deadline {deadline:g}", fix="use seconds, more than 0")
    inputs = [*([] if body is None else [body]), *(input or ())]
    labels = read_pairs(label or [], "--label")
    order = Order(target, inputs, None, id, Where(db, key, namespace), deadline, labels, json)
    try:
        outcome = _there(order, goals) if is_server(db) else _here(order, goals)
    except KeyboardInterrupt:
        _interrupted(order)
        raise typer.Exit(exits.INTERRUPTED) from None
    _say(order, outcome)
    raise typer.Exit(_EXITS[outcome.status])


def read_goals(target: str) -> Goals | None:
    """`goals:ship` or `goals:ship,invoice`; None for what else can be run."""
    prefix, _, ids = target.partition(":")
    return Goals(tuple(filter(None, ids.split(",")))) if prefix == "goals" else None


def _there(order: Order, goals: Goals | None) -> Outcome:
    from .run_there import run_there  # what speaks HTTP is loaded where it is needed

    order.given = _given(order.inputs, named=goals is not None)
    return do(run_there(order, goals))


def _here(order: Order, goals: Goals | None) -> Outcome:
    if goals is not None:
        must_exist(order.where.url)  # a new one has no catalog
    definitions, found = load_target(order.target) if goals is None else ([], goals)
    order.given = _given(order.inputs, named=isinstance(found, Goals))
    return do(run_here(order, definitions, found))


def _given(inputs: Sequence[str], *, named: bool) -> Any:
    if named:
        return read_inputs(inputs)
    if len(inputs) > 1:
        raise InvalidInput("cli.two_inputs", "the input is given twice", fix="leave one of them out")
    return read_json(inputs[0], "the input") if inputs else None


def _say(order: Order, outcome: Outcome) -> None:
    if order.json:
        fields = document(
            id=order.id,
            namespace=outcome.run.namespace,
            definition=outcome.run.definition,
            version=outcome.run.version,
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
    if error.code == "goals.no_handler":
        fixes["blocked"] = LOAD_FUNCTION
    why = "" if error.why == status else error.why  # a cancel without a reason
    return PlaitError(error.code, error.what, why=why, fix=error.fix or fixes.get(status, ""))


def _interrupted(order: Order) -> None:
    if order.id is None:
        note("interrupted before the run was started")
    elif is_server(order.where.url):
        note(f"interrupted: run {order.id} goes on on the server. To wait for it again:\n  {order.again()}")
    else:
        note(f"interrupted: run {order.id} is kept in {order.where.url}. To go on:\n  {order.again()}")
