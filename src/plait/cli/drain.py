"""`plait drain`: take a version out of use, and learn when its last run has ended."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from plait.api.caller import EVERYWHERE
from plait.kernel.errors import InvalidInput
from plait.registry.engine import Engine

from . import exits, words
from .audited import note_change
from .options import DEFAULT_DB, Db, Json
from .output import emit, note, say
from .session import do, looking

_EVERY = 1.0
"""Seconds between two polls."""

Version = Annotated[
    str | None,
    typer.Option("--version", metavar="NAME@VERSION", help="The version to drain.", show_default="list them"),
]


def drain(
    version: Version = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until its last run has ended.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Let new runs start on it again.")] = False,
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> None:
    """Start no new runs on a version, in any namespace; existing runs continue, and may start children.

    Tells how many are left. Exit code 0 if none is: engines need its code no longer. Else 1.
    """
    if version is None:
        if wait or undo:
            raise InvalidInput("cli.usage", "name a version", fix="plait drain --version order@v1")
        _list(db, json=json)
        return
    if wait and undo:
        raise InvalidInput("cli.usage", "give --wait or --undo, not both")
    left = do(_undo(db, version) if undo else _drain(db, version, wait=wait))
    if json:
        emit({"version": version, "draining": not undo, "left": left})
    elif undo:
        say(f"new runs start on {version} again")
    else:
        say(f"{version}: no runs left" if not left else f"{version}: {words.counted(left, 'run')} left")
        note("no new run starts on it, on any engine, after a second")
    raise typer.Exit(exits.FAILED if left and not undo else exits.OK)


def _list(db: str, *, json: bool) -> None:
    found = do(_drained(db))
    if json:
        emit([{"version": version, "left": left} for version, left in found])
    elif not found:
        say("no version is being drained")
    for version, left in found if not json else ():
        say(f"{version}: {words.counted(left, 'run')} left" if left else f"{version}: no runs left")


async def _drained(db: str) -> list[tuple[str, int]]:
    async with looking(db) as engine:
        return [(version, await engine.drains.left(version)) for version in await engine.drains.list()]


async def _drain(db: str, version: str, *, wait: bool) -> int:
    async with looking(db) as engine:
        if version not in await engine.drains.list():
            await engine.drains.begin(version)
            await note_change(engine, "versions.drain", version, EVERYWHERE)
        return await (_until_empty(engine, version) if wait else engine.drains.left(version))


async def _until_empty(engine: Engine, version: str) -> int:
    """Polls until the version has no runs: other processes end them, so nothing notifies us."""
    told = 0
    while left := await engine.drains.left(version):
        if left != told:
            note(f"{version}: {words.counted(left, 'run')} left")
            told = left
        await asyncio.sleep(_EVERY)
    return left


async def _undo(db: str, version: str) -> int:
    async with looking(db) as engine:
        if await engine.drains.undo(version):
            await note_change(engine, "versions.drain_undone", version, EVERYWHERE)
        return await engine.drains.left(version)
