"""`plait run`: a workflow, from the command line, to its end."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.errors import PlaitError
from plait.kernel.errors import InvalidInput

from . import exits
from .errors import tell
from .loading import load_workflow
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_json, read_pairs
from .ordering import End, Order, Outcome
from .output import document, emit, note, say
from .run_here import run_here
from .session import do, is_server
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
            metavar="MODULE:FUNCTION", help="The workflow; on a server, the NAME of one.", show_default=False
        ),
    ],
    body: Annotated[
        str | None, typer.Argument(metavar="[JSON]", help="Its input, as --input.", show_default=False)
    ] = None,
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
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Run a workflow to its end, with live progress. The output goes to stdout, the progress to stderr.

    On a database, this process does the work: the function is looked for from the current folder: app:order, or
    path/to/file.py:order. Stop it when you like, even with kill -9: the same command with the same --id goes on where
    it was. A server runs what it has loaded: give the workflow's name.
    """
    code = None if is_server(db) else load_workflow(target)
    if deadline is not None and not 0 < deadline < 100 * 365 * 86_400:
        raise InvalidInput("cli.bad_deadline", f"--deadline {deadline:g}", fix="use seconds, more than 0")
    if body is not None and input is not None:
        raise InvalidInput("cli.two_inputs", "the input is given twice", fix="leave one of them out")
    text = input if body is None else body
    given = read_json(text, "the input") if text is not None else None
    labels = read_pairs(label or [], "--label")
    order = Order(target, text, given, id, Where(db, key, namespace), deadline, labels, json)
    try:
        if code is None:
            from .run_there import run_there  # what speaks HTTP is loaded where it is needed

            outcome = do(run_there(order))
        else:
            outcome = do(run_here(order, [*code], code[1]))
    except KeyboardInterrupt:
        _interrupted(order)
        raise typer.Exit(exits.INTERRUPTED) from None
    _say(order, outcome)
    raise typer.Exit(_EXITS[outcome.status])


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
    why = "" if error.why == status else error.why  # a cancel without a reason
    return PlaitError(error.code, error.what, why=why, fix=error.fix or fixes.get(status, ""))


def _interrupted(order: Order) -> None:
    if order.id is None:
        note("interrupted before the run was started")
    elif is_server(order.where.url):
        note(f"interrupted: run {order.id} goes on on the server. To wait for it again:\n  {order.again()}")
    else:
        note(f"interrupted: run {order.id} is kept in {order.where.url}. To go on:\n  {order.again()}")
