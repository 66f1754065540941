"""`plait dlq`: tasks that used up their attempts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.text import Text

from plait.kernel.ids import caller_id
from plait.kernel.store import DeadLetter

from . import words
from .acknowledgement import report
from .connect import connect
from .contract import Session
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where, group
from .output import document, emit, facts, say, table
from .session import do

dlq = group()

LetterArgument = Annotated[str, typer.Argument(metavar="ID", help="The dead letter.", show_default=False)]
LetterOrMany = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="The dead letter; without it, those of --run.", show_default=False)
]
OfRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Filter by run.", show_default=False)]
OfNode = Annotated[str | None, typer.Option("--node", metavar="NODE", help="Filter by node.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="Include retried and discarded ones.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Show at most N.")]
_MOST = 100
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Which:
    run: str | None = None
    node: str | None = None
    all: bool = False

    def has(self, letter: DeadLetter) -> bool:
        """Whether the letter matches. A node is named by its letter's token, or by its label."""
        named = (letter.token, letter.label, letter.label.partition("`")[2].partition("`")[0])
        return self.node is None or self.node in named


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
        _list(Where(db, key, namespace), Which(), _MOST, json=json)


@dlq.command("list")
def list_(
    all: All = False,
    run: OfRun = None,
    node: OfNode = None,
    limit: Limit = _MOST,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """List them, oldest first."""
    _list(Where(db, key, namespace), Which(run, node, all), limit, json=json)


def _list(where: Where, which: Which, limit: int, *, json: bool) -> None:
    found, all = do(_listed(where, which, limit + 1)), which.all
    shown = found[:limit]
    if json:
        emit([_document(letter) for letter in shown])
    elif shown:
        now = words.now()
        rows = [
            (
                letter.id,
                letter.status if all else f"{letter.attempts}×",
                words.ago(letter.at, now),
                Text(words.brief(words.failure(letter.error)), "red"),
            )
            for letter in shown
        ]
        table(("ID", "STATUS" if all else "TRIED", "FAILED", "ERROR"), rows, fold=("ID",), cut=("ERROR",))
        if len(found) > limit:
            say(f"… and more: plait dlq list --limit {limit * 5}", "bright_black")
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
    found = do(_get(Where(db, key, namespace), letter))
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
    letter: LetterOrMany = None,
    run: OfRun = None,
    node: OfNode = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Retry the task, with new attempts; a run that failed with it continues. With --run: all of that run."""
    do(_settle_all(letter, Which(run, node), "retry", Where(db, key, namespace), json))


@dlq.command()
def discard(
    letter: LetterOrMany = None,
    run: OfRun = None,
    node: OfNode = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Discard the task; a rollback that stopped at it continues without it. With --run: all of that run."""
    do(_settle_all(letter, Which(run, node), "discard", Where(db, key, namespace), json))


async def _get(where: Where, id: str) -> DeadLetter:
    async with connect(where) as session:
        return await session.engine.dlq.get(id, session.namespace)


async def _listed(where: Where, which: Which, limit: int) -> list[DeadLetter]:
    found: list[DeadLetter] = []
    size = min(limit, _PAGE) if which.node is None else _PAGE
    async with connect(where) as session, aclosing(_letters(session, which, size)) as letters:
        async for letter in letters:
            found.append(letter)
            if len(found) == limit:
                break
    return found


async def _letters(session: Session, which: Which, size: int = _PAGE) -> AsyncGenerator[DeadLetter]:
    """All of them, page by page."""
    after = None
    while page := await session.engine.dlq.list(
        session.namespace, all=which.all, run_id=which.run, after=after, limit=size
    ):
        for letter in page:
            if which.has(letter):
                yield letter
        if len(page) < size:
            break
        after = page[-1].at, page[-1].id


async def _settle_all(id: str | None, which: Which, verdict: str, where: Where, json: bool) -> None:
    if (id is None) == (which.run is None):
        raise typer.BadParameter("name one dead letter, or those of a run with --run", param_hint="ID")
    for each in [id] if id is not None else await _ids(where, which):
        await _settle(each, verdict, where, json)


async def _ids(where: Where, which: Which) -> list[str]:
    async with connect(where) as session, aclosing(_letters(session, which)) as letters:
        return [letter.id async for letter in letters]


async def _settle(id: str, verdict: str, where: Where, json: bool) -> None:
    async with connect(where) as session:
        dlq = session.engine.dlq
        letter = await dlq.get(id, session.namespace)
        run = await session.engine.get(caller_id(letter.run_id), session.namespace)
        settle = dlq.retry if verdict == "retry" else dlq.discard
        taken = await session.told(run, settle(id, session.namespace))
        await report(run, f"dead letter {id}: {verdict}", taken, json=json, dead_letter=id)


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
