"""`plait definitions`: what can be started."""

from __future__ import annotations

from typing import Annotated

import typer

from plait.api.definition import Definition

from . import words
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import document, emit, say, table
from .session import do


def definitions(
    dialect: Annotated[str | None, typer.Option(metavar="NAME", help="Filter by dialect.", show_default=False)] = None,
    delete: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Delete a saved definition; its runs continue.", show_default=False),
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """List definitions, loaded by servers or saved, by name, with their newest version and their tags."""
    if delete is not None:
        do(_delete(delete, Where(db, key, namespace)))
        if json:
            emit(document(name=delete, deleted=True))
        else:
            say(f"deleted {delete}; `plait save` brings it back")
        return
    found = do(_definitions(dialect, Where(db, key, namespace)))
    if json:
        emit(found)
    elif found:
        now = words.now()
        rows = [
            (
                known.name,
                known.dialect,
                known.version,
                ", ".join(f"{tag}={version}" for tag, version in sorted(known.tags.items())),
                words.ago(max(version.created_at for version in known.versions), now),
            )
            for known in found
        ]
        table(("NAME", "DIALECT", "VERSION", "TAGS", "SINCE"), rows, fold=("NAME", "TAGS"), cut=("VERSION",))
    else:
        say("no definitions")


async def _definitions(dialect: str | None, where: Where) -> list[Definition]:
    async with connect(where) as session:
        return await session.engine.definitions.list(dialect, session.namespace)


async def _delete(name: str, where: Where) -> None:
    async with connect(where) as session:
        await session.engine.definitions.delete(name, session.namespace)
