"""`plait dlq`: tasks that used up their attempts."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from plait.kernel.errors import NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.store import DeadLetter

from . import words
from .options import DEFAULT_DB, Db, Json, Namespace
from .output import document, emit, facts, say, table
from .session import do, looking
from .told import report, teller

dlq = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

LetterArgument = Annotated[str, typer.Argument(metavar="ID", help="The dead letter.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="Also those that were settled.")]


@dlq.callback(invoke_without_command=True)
def default(
    ctx: typer.Context,
    namespace: Namespace = DEFAULT_NAMESPACE,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Tasks that used up their attempts. Without a command: list."""
    if ctx.invoked_subcommand is None:
        _list(db, namespace, all=False, json=json)


@dlq.command("list")
def list_(all: All = False, namespace: Namespace = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False) -> None:
    """List them, oldest first."""
    _list(db, namespace, all=all, json=json)


def _list(db: str, namespace: str, *, all: bool, json: bool) -> None:
    found = do(_letters(db, namespace, all))
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
    letter: LetterArgument, namespace: Namespace = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False
) -> None:
    """Show one, with its error."""
    found = next((known for known in do(_letters(db, namespace, True)) if known.id == letter), None)
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
        say(f"→ to give it up: plait dlq discard {found.id}")


@dlq.command()
def retry(
    letter: LetterArgument, namespace: Namespace = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False
) -> None:
    """Try the task again, with fresh attempts; a run that failed with it goes on."""
    do(_settle(letter, "retry", namespace, db, json))


@dlq.command()
def discard(
    letter: LetterArgument, namespace: Namespace = DEFAULT_NAMESPACE, db: Db = DEFAULT_DB, json: Json = False
) -> None:
    """Give the task up; a rollback that stopped at it goes on without it."""
    do(_settle(letter, "discard", namespace, db, json))


async def _letters(db: str, namespace: str, all: bool) -> list[DeadLetter]:
    async with looking(db) as engine:
        return await engine.dlq.list(namespace, all=all)


async def _settle(id: str, verdict: str, namespace: str, db: str, json: bool) -> None:
    async with teller(db) as telling:
        engine = telling.engine
        letter = next((known for known in await engine.dlq.list(namespace, all=True) if known.id == id), None)
        if letter is None:
            raise _unknown(id)
        settle = engine.dlq.retry if verdict == "retry" else engine.dlq.discard
        taken = await telling.told(letter.run_id, settle(id, namespace))
        handle = await engine.get(caller_id(letter.run_id), namespace)
        await report(handle, f"dead letter {id}: {verdict}", taken, json=json, dead_letter=id)


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
