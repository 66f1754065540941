"""`plait patch`: changes the definition of one run, where its dialect can."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from plait.kernel.errors import InvalidInput

from .acknowledgement import report
from .connect import connect
from .options import DEFAULT_DB, Json, Key, Namespace, Place, RunArgument, Where, read_json
from .session import do


def patch(
    run: RunArgument,
    operations: Annotated[
        str, typer.Argument(metavar="JSON", help="The operations, as a list; @file reads a file.", show_default=False)
    ],
    base: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only if the run is still at this revision.", show_default=False),
    ] = None,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Change the definition of one run, if its dialect supports it. The operations are those of the dialect."""
    do(_patch(run, _read(operations), base, Where(db, key, namespace), json))


async def _patch(run: str, operations: list[dict[str, Any]], base: int | None, where: Where, json: bool) -> None:
    async with connect(where) as session:
        handle = await session.engine.get(run, session.namespace)
        taken = await session.told(handle, handle.patch(operations, by=session.me, base=base))
        revision = (await handle.picture()).view.revision
        await report(handle, f"run {handle.id}: patch", taken, json=json, revision=revision)


def _read(text: str) -> list[dict[str, Any]]:
    found = read_json(text, "the operations")
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in cast("list[object]", found)):
        raise InvalidInput(
            "cli.bad_operations", "the operations are not a list of JSON objects", fix='write [{"op": ...}, ...]'
        )
    return cast("list[dict[str, Any]]", found)
