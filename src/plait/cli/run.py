"""`plait run`: a definition of any dialect, from the command line, to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from plait.errors import PlaitError
from plait.kernel.errors import InvalidInput
from plait.kernel.run_queues import Queueing

from . import exits
from .errors import tell
from .extensions import extension_of
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, read_inputs, read_json, read_pairs
from .output import document, emit, note, say
from .run_here import run_here
from .run_request import End, Outcome, RunRequest
from .session import do, is_missing, is_server, must_exist
from .target import Target, load_target, no_target, read_target
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
            metavar="MODULE:FUNCTION|DIALECT:DEFINITION|NAME[@VERSION]",
            help="What to run: code on this machine, or a definition of the database or server.",
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
            help="Its input; @- reads stdin. K=V, repeatable, where inputs have names.",
            show_default="none",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The run's id; if it exists, it is continued.", show_default="generated"),
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="The run fails if it takes longer.", show_default="none")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A label; repeatable.")] = None,
    subject: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose values it holds; see `plait erase`.", show_default="nobody's"),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(metavar="QUEUE", help="Wait there until a slot is free.", show_default="start at once"),
    ] = None,
    priority: Annotated[int, typer.Option(metavar="N", help="On queues; lower starts first.")] = 0,
    partition: Annotated[
        str | None, typer.Option(metavar="KEY", help="Its key on partitioned queues.", show_default="none")
    ] = None,
    dedup_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only one run of the queue may have it at a time.", show_default="none"),
    ] = None,
    delay: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="On a queue: start no sooner.", show_default="none")
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Run a workflow to its end, with live progress. The output goes to stdout, the progress to stderr.

    On a database, this process does the work. Code is found from the current folder: app:order, or
    path/to/file.py:order. Stop it when you like, even with kill -9: the same command with the same --id continues
    where it was. A server runs what it has loaded: give the name, order, order@2 or order@prod.

    goals:STEP plans from the catalog of the database or the server, and runs what STEP needs. app:STEP does the same
    with the steps that app declares, and their functions.
    """
    if deadline is not None and not 0 < deadline < 100 * 365 * 86_400:
        raise InvalidInput("cli.bad_deadline", f"--deadline {deadline:g}", fix="use seconds, more than 0")
    inputs = [*([] if body is None else [body]), *(input or ())]
    labels = read_pairs(label or [], "--label")
    queueing = _queueing(queue, priority, partition, dedup_id, delay)
    request = RunRequest(target, inputs, None, id, Where(db, key, namespace), deadline, labels, subject, queueing, json)
    try:
        outcome = _there(request) if is_server(db) else _here(request)
    except KeyboardInterrupt:
        _interrupted(request)
        raise typer.Exit(exits.INTERRUPTED) from None
    _say(request, outcome)
    raise typer.Exit(_EXITS[outcome.status])


def _queueing(
    queue: str | None, priority: int, partition: str | None, dedup_id: str | None, delay: float | None
) -> Queueing:
    """Returns the queueing options that were given."""
    found: Queueing = {}
    if queue is not None:
        found["queue"] = queue
    if priority:
        found["priority"] = priority
    if partition is not None:
        found["partition"] = partition
    if dedup_id is not None:
        found["dedup_id"] = dedup_id
    if delay is not None:
        found["delay"] = delay
    return found


def _there(request: RunRequest) -> Outcome:
    from .run_there import run_there  # HTTP code is imported only where it is needed

    target = read_target(request.target)
    request.given = _given(request.inputs, target)
    return do(run_there(request, target))


def _here(request: RunRequest) -> Outcome:
    target = read_target(request.target)
    if target.local:
        target = load_target(request.target)
    elif target.definition == request.target and is_missing(request.where.url):
        raise no_target(request.target)
    elif not target.in_file:
        must_exist(request.where.url)  # a new database has no definitions
    request.given = _given(request.inputs, target)
    return do(run_here(request, target))


def _given(inputs: Sequence[str], target: Target) -> Any:
    if target.named_inputs:
        return read_inputs(inputs)
    if len(inputs) > 1:
        raise InvalidInput("cli.two_inputs", "the input is given twice", fix="leave one of them out")
    return read_json(inputs[0], "the input") if inputs else None


def _say(request: RunRequest, outcome: Outcome) -> None:
    if request.json:
        fields = document(
            id=request.id,
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
        tell(_with_fix(request, outcome.run.dialect, outcome.status, outcome.error), json=False)


def _with_fix(request: RunRequest, dialect: str, status: End, error: PlaitError) -> PlaitError:
    fixes = {
        "failed": f"when the cause is gone: plait retry {request.id}, then {request.again()}",
        "blocked": extension_of(dialect).blocked_fix(request.again()),
    }
    why = "" if error.why == status else error.why  # a cancel without a reason
    return PlaitError(error.code, error.what, why=why, fix=error.fix or fixes.get(status, ""))


def _interrupted(request: RunRequest) -> None:
    if request.id is None:
        note("interrupted before the run was started")
    elif is_server(request.where.url):
        note(f"interrupted: run {request.id} continues on the server. To wait for it again:\n  {request.again()}")
    else:
        note(f"interrupted: run {request.id} is kept in {request.where.url}. To continue:\n  {request.again()}")
