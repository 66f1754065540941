"""`plait tag`: moves a name's tags between versions, with undo."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.api.definition import Definition
from plait.kernel.errors import InvalidInput

from .connect import connect
from .contract import Known
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import emit, say, table
from .save import Expected
from .session import do


def tag(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The definition.", show_default=False)],
    tag: Annotated[str | None, typer.Argument(metavar="TAG", help="The tag.", show_default="list them")] = None,
    version: Annotated[
        str | None, typer.Argument(metavar="VERSION", help="The version to move it to.", show_default=False)
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Undo its last move.")] = False,
    redo: Annotated[bool, typer.Option("--redo", help="Redo what --undo undid.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove it.")] = False,
    expected: Expected = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """List the tags of a definition; or move one to a version, or undo its last move. `NAME` alone means
    `NAME@main`, if there is such a tag."""
    wanted = [way for way, given in (("undo", undo), ("redo", redo), ("remove", remove)) if given]
    if len(wanted) + (version is not None) > 1 or (tag is None and (wanted or expected)):
        raise InvalidInput("cli.usage", "give a tag, and one thing to do with it", fix="see plait tag --help")
    way = wanted[0] if wanted else "move" if version is not None else "list"
    found = do(_tag(name, tag or "", version or "", way, expected, Where(db, key, namespace)))
    shown = found.tags if way != "list" or tag is None else {tag: found.tags[tag]} if tag in found.tags else {}
    if json:
        emit(shown)
    elif shown:
        table(("TAG", "VERSION"), [(each, shown[each]) for each in sorted(shown)])
    else:
        say("no tags")


async def _tag(name: str, tag: str, version: str, way: str, expected: str | None, where: Where) -> Definition:
    async with connect(where) as session:
        known: Known = session.engine.definitions
        match way:
            case "move":
                return await known.tag(name, tag, version, session.namespace, expected=expected)
            case "undo":
                return await known.undo(name, tag, session.namespace, expected=expected)
            case "redo":
                return await known.redo(name, tag, session.namespace, expected=expected)
            case "remove":
                return await known.untag(name, tag, session.namespace)
            case _:
                return await known.get(name, session.namespace)
