"""`plait logs`: what the tasks of a run logged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, cast

import typer
from rich.text import Text

from plait.kernel.events import Recorded
from plait.kernel.store import Line

from . import words
from .connect import opened
from .contract import Run
from .options import DEFAULT_DB, Follow, Json, Key, Namespace, Place, RunArgument, Where
from .output import document, emit_line, flush, say
from .session import do

_PAGE = 1_000
_PAUSE = 0.5
"""Seconds between looks. Lines are kept a moment after they were said, so one more look follows the end."""

_STYLES = {"debug": "bright_black", "info": "", "warning": "yellow", "error": "red"}


def logs(
    run: RunArgument,
    node: Annotated[str | None, typer.Option(metavar="PATH", help="Filter by operation.", show_default=False)] = None,
    follow: Follow = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Print the log lines of a run's tasks; with --json, one JSON object per line."""
    if not do(_logs(run, node, Where(db, key, namespace), follow=follow, json=json)) and not json:
        say("no log lines")


async def _logs(run: str, node: str | None, where: Where, *, follow: bool, json: bool) -> int:
    """Prints lines as they arrive; returns how many there were."""
    count = 0
    async with opened(where, run) as handle:
        looking = _followed(handle, node) if follow else _pages(handle, node, 0)
        async with aclosing(looking) as pages:
            async for page in pages:
                for line in page:
                    emit_line(_document(line)) if json else say(_text(line))
                count += len(page)
                flush()
    return count


async def _pages(run: Run, node: str | None, after: int) -> AsyncGenerator[list[Line]]:
    while page := await run.logs(node, after, _PAGE):
        yield page
        after = page[-1].id
        if len(page) < _PAGE:
            return


async def _followed(run: Run, node: str | None) -> AsyncGenerator[list[Line]]:
    ending = asyncio.ensure_future(_end(run))
    after, last = 0, False
    try:
        while True:
            async for page in _pages(run, node, after):
                after = page[-1].id
                yield page
            if last:
                return
            if last := ending.done():
                ending.result()
                await asyncio.sleep(_PAUSE)
            else:
                await asyncio.wait({ending}, timeout=_PAUSE)
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)


async def _end(run: Run) -> None:
    seen = (await run.picture()).seq
    async with aclosing(cast("AsyncGenerator[list[Recorded]]", run.follow(seen))) as batches:
        async for _ in batches:
            pass


def _document(line: Line) -> dict[str, Any]:
    return document(id=line.id, at=line.at, node=line.node, attempt=line.attempt, level=line.level, text=line.text)


def _text(line: Line) -> Text:
    time = words.clock(line.at).split()[1] + f".{line.at % 1000:03d}"
    place = line.node if line.attempt < 2 else f"{line.node} ({line.attempt})"
    return Text.assemble((f"{time}  ", "bright_black"), (place, "bold"), "  ", (line.text, _STYLES[line.level]))
