"""`plait diff`: the differences between two runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.text import Text

from plait.api.diff import Change, NodeChange
from plait.api.picture import RunDiff
from plait.kernel.ids import caller_id
from plait.kernel.store import RunRow

from . import words
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import emit, say, status_text
from .records import name_of, run_document, status_of
from .session import do

_LENGTH = 60
"""Maximum characters to show of a value."""

First = Annotated[str, typer.Argument(metavar="A", help="A run.", show_default=False)]
Second = Annotated[str, typer.Argument(metavar="B", help="Another.", show_default=False)]


def diff(
    a: First,
    b: Second,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Compare two runs: input, output, and operation by operation."""
    found = do(_diff(a, b, Where(db, key, namespace)))
    if json:
        emit(
            {
                "a": run_document(found.a),
                "b": run_document(found.b),
                "input": found.input,
                "output": found.output,
                "nodes": found.nodes,
            }
        )
    else:
        _say(found)


async def _diff(a: str, b: str, where: Where) -> RunDiff:
    async with connect(where) as session:
        first = await session.engine.get(a, session.namespace)
        second = await session.engine.get(b, session.namespace)
        return await session.engine.diff(first, second)


def _say(found: RunDiff) -> None:
    say(_title("a", found.a))
    say(_title("b", found.b))
    _say_changes("input", found.input)
    _say_changes("output", found.output)
    other = [node for node in found.nodes if node.change != "same"]
    if other:
        say(Text("\noperations", "bold"))
    for node in other:
        _say_node(node)
    same = len(found.nodes) - len(other)
    if not (other or found.input or found.output):
        say("\nno differences except times and ids")
    elif same:
        say(f"\n{words.counted(same, 'operation is', 'operations are')} the same")


def _title(name: str, row: RunRow) -> Text:
    return Text.assemble((f"{name}  ", "bold"), f"{caller_id(row.id)}  {name_of(row)}  ", status_text(status_of(row)))


def _say_changes(title: str, changes: list[Change]) -> None:
    if changes:
        say(Text(f"\n{title}", "bold"))
        _say_each(changes, "  ")


def _say_node(node: NodeChange) -> None:
    match node.change:
        case "only_a":
            say(Text(f"  - {node.id}  {node.kind}  only in a", "red"))
        case "only_b":
            say(Text(f"  + {node.id}  {node.kind}  only in b", "green"))
        case "changed":
            say(Text(f"  ~ {node.id}  {node.kind}", "yellow"))
            _say_each(node.changes, "      ")
        case "same":
            return


def _say_each(changes: Iterable[Change], indent: str) -> None:
    for change in changes:
        place = change.path or "/"
        a, b = words.value(change.a, _LENGTH), words.value(change.b, _LENGTH)
        match change.kind:
            case "added":
                say(Text(f"{indent}+ {place}  {b}", "green"))
            case "removed":
                say(Text(f"{indent}- {place}  {a}", "red"))
            case "changed":
                say(Text(f"{indent}~ {place}  {a} → {b}", "yellow"))
