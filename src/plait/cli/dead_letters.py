"""`plait dlq`: tasks that used up their attempts."""

from __future__ import annotations

from dataclasses import dataclass
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
LetterOrMany = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="The dead letter; without it, those of --run.", show_default=False)
]
OfRun = Annotated[str | None, typer.Option("--run", metavar="RUN", help="Filter by run.", show_default=False)]
OfNode = Annotated[str | None, typer.Option("--node", metavar="NODE", help="Filter by node.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="Include retried and discarded ones.")]


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
        _list(Where(db, key, namespace), Which(), json=json)


@dlq.command("list")
def list_(
    all: All = False,
    run: OfRun = None,
    node: OfNode = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """List them, oldest first."""
    _list(Where(db, key, namespace), Which(run, node, all), json=json)


def _list(where: Where, which: Which, *, json: bool) -> None:
    found, all = do(_letters(where, which)), which.all
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
    known = do(_letters(Where(db, key, namespace), Which(all=True)))
    found = next((each for each in known if each.id == letter), None)
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


async def _letters(where: Where, which: Which) -> list[DeadLetter]:
    async with connect(where) as session:
        found = await session.engine.dlq.list(session.namespace, all=which.all, run_id=which.run)
        return [letter for letter in found if which.has(letter)]


async def _settle_all(id: str | None, which: Which, verdict: str, where: Where, json: bool) -> None:
    if (id is None) == (which.run is None):
        raise typer.BadParameter("name one dead letter, or those of a run with --run", param_hint="ID")
    for each in [id] if id is not None else [letter.id for letter in await _letters(where, which)]:
        await _settle(each, verdict, where, json)


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
