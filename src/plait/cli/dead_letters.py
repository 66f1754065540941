"""`plait dlq`: tasks that used up their attempts."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from plait.kernel.errors import NotFound
from plait.kernel.ids import caller_id
from plait.kernel.store import DeadLetter

from . import words
from .acknowledgement import report
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group
from .output import document, emit, facts, say, table
from .session import do

dlq = group()

LetterArgument = Annotated[str, typer.Argument(metavar="ID", help="The dead letter.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="Include those that are settled.")]


@dlq.callback(invoke_without_command=True)
def default(
    ctx: typer.Context,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Dead letters: tasks that used up their attempts. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _list(Where(db, key, namespace), all=False, json=json)


@dlq.command("list")
def list_(
    all: All = False, namespace: Namespace = None, db: Place = DEFAULT_DB, key: Key = None, json: Json = False
) -> None:
    """List them, oldest first."""
    _list(Where(db, key, namespace), all=all, json=json)


def _list(where: Where, *, all: bool, json: bool) -> None:
    found = do(_letters(where, all))
    if json:
        emit([_document(letter) for letter in found])
    elif found:
        now = words.now()
        rows = [
            (
                letter.id,
                letter.status if all else f"{letter.attempts}×",
                words.ago(letter.at, now),
                Text(words.one_line(words.failure(letter.error)), "red"),
            )
            for letter in found
        ]
        table(("ID", "STATUS" if all else "TRIED", "FAILED", "ERROR"), rows, fold=("ID",), cut=("ERROR",))
    else:
        say("no dead letters")


@dlq.command()
def show(
    letter: LetterArgument,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Show one, with its error."""
    found = next((known for known in do(_letters(Where(db, key, namespace), True)) if known.id == letter), None)
    if found is None:
        raise _unknown(letter)
    if json:
        emit(_document(found))
        return
    error = found.error
    facts(
        [
            ("dead letter", found.id),
            ("run", caller_id(found.run_id)),
            ("task", found.label),
            ("status", found.status),
            ("failed", f"{words.clock(found.at)}, after {words.counted(found.attempts, 'attempt')}"),
            ("error", Text(f"{words.failure(error)} [{error.code}]", "red")),
            ("at", error.trace or None),
        ]
    )
    if found.status == "pending":
        say(f"\n→ when the cause is gone: plait dlq retry {found.id}")
        say(f"→ to discard it: plait dlq discard {found.id}")


@dlq.command()
def retry(
    letter: LetterArgument,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Try the task again, with fresh attempts; a run that failed with it continues."""
    do(_settle(letter, "retry", Where(db, key, namespace), json))


@dlq.command()
def discard(
    letter: LetterArgument,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Discard the task; a rollback that stopped at it continues without it."""
    do(_settle(letter, "discard", Where(db, key, namespace), json))


async def _letters(where: Where, all: bool) -> list[DeadLetter]:
    async with connect(where) as session:
        return await session.engine.dlq.list(session.namespace, all=all)


async def _settle(id: str, verdict: str, where: Where, json: bool) -> None:
    async with connect(where) as session:
        dlq = session.engine.dlq
        letter = next((known for known in await dlq.list(session.namespace, all=True) if known.id == id), None)
        if letter is None:
            raise _unknown(id)
        run = await session.engine.get(caller_id(letter.run_id), session.namespace)
        settle = dlq.retry if verdict == "retry" else dlq.discard
        taken = await session.told(run, settle(id, session.namespace))
        await report(run, f"dead letter {id}: {verdict}", taken, json=json, dead_letter=id)


def _unknown(id: str) -> NotFound:
    return NotFound("kernel.no_dead_letter", f"there is no dead letter {id}", fix="`plait dlq` lists them")


def _document(letter: DeadLetter) -> dict[str, Any]:
    return document(
        id=letter.id,
        run=caller_id(letter.run_id),
        task=letter.label,
        status=letter.status,
        attempts=letter.attempts,
        failed_at=letter.at,
        error=letter.error,
    )
