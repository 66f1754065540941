"""`plait retention`: how long ended runs and the audit log of a namespace are kept."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.api.retention import KEEP_ALL, STATUSES, RetentionRules
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis

from . import words
from .audited import note_change
from .options import DEFAULT_DB, Db, Json, group
from .output import emit, facts, note, say
from .session import do, looking
from .spans import read_span

retention = group()

Of = Annotated[str, typer.Option("--namespace", "-n", metavar="NAME", help="Whose runs.")]
Completed = Annotated[
    str | None, typer.Option(metavar="AGE", help="How long completed runs are kept: 30d, 12h, 5m.", show_default=False)
]
Failed = Annotated[str | None, typer.Option(metavar="AGE", help="Failed ones.", show_default=False)]
Cancelled = Annotated[str | None, typer.Option(metavar="AGE", help="Cancelled ones.", show_default=False)]
Audited = Annotated[str | None, typer.Option("--audit", metavar="AGE", help="The audit log.", show_default=False)]
Archived = Annotated[
    bool, typer.Option("--archive", help="Archive runs before removal, to PLAIT_ARCHIVE of the engines.")
]


@retention.callback(invoke_without_command=True)
def default(ctx: typer.Context, namespace: Of = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """How long ended runs of a namespace are kept. Without a command: show."""
    if ctx.invoked_subcommand is None:
        _show(db, namespace, json=json)


@retention.command()
def show(namespace: Of = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """Show it."""
    _show(db, namespace, json=json)


@retention.command("set")
def set_(
    completed: Completed = None,
    failed: Failed = None,
    cancelled: Cancelled = None,
    audit: Audited = None,
    archive: Archived = False,
    namespace: Of = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Set it. What is left out is kept forever; without options, everything is.

    Runs that ended longer ago are removed by the engines on this database, within a minute or so: with their events,
    logs, approvals, dead letters, and large values that no other run has. A child goes after its parent.
    """
    rules = RetentionRules(
        completed=_age(completed, "--completed"),
        failed=_age(failed, "--failed"),
        cancelled=_age(cancelled, "--cancelled"),
        audit=_age(audit, "--audit"),
        archive=archive,
    )
    made = do(_set(db, namespace, rules))
    if json:
        emit(made)
        return
    _say(made)
    if made != KEEP_ALL:
        note("engines remove runs that are older, within a minute; this can't be undone", "yellow")


def _show(db: str, namespace: str, *, json: bool) -> None:
    found = do(_get(db, namespace))
    if json:
        emit(found)
    else:
        _say(found)


def _say(rules: RetentionRules) -> None:
    if rules == KEEP_ALL:
        say("everything is kept forever")
        return
    ages = [(f"{status} runs", _shown(rules.age(status))) for status in STATUSES]
    facts([*ages, ("audit log", _shown(rules.audit)), ("archived first", "yes" if rules.archive else "no")])


def _shown(age: Millis | None) -> str:
    return "kept forever" if age is None else f"removed {words.duration(age)} after their end" if age else "removed"


def _age(text: str | None, option: str) -> Millis | None:
    return None if text is None else read_span(text, option)


async def _get(db: str, namespace: str) -> RetentionRules:
    async with looking(db) as engine:
        return await engine.retention.get(namespace)


async def _set(db: str, namespace: str, rules: RetentionRules) -> RetentionRules:
    async with looking(db, create=True) as engine:
        made = await engine.retention.set(rules, namespace)
        await note_change(engine, "retention.set", namespace, namespace)
        return made
