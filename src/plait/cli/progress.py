"""Shows the progress of a run on stderr: a live tree on a terminal, a line per change elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from plait.kernel.errors import Unavailable
from plait.kernel.view import NodeStatus, Reason, RunView

from . import run_view, words
from .contract import Run
from .output import console

REFRESH = 0.1
_SHARE = 10
"""The inverse of the share of time that polling may take: watching must not slow down the run."""


class Screen(Protocol):
    def show(self, view: RunView, waiting: list[Reason]) -> None: ...
    def close(self) -> None: ...


async def watch(run: Run, ending: asyncio.Future[Any], screen: Screen, pause: float = REFRESH) -> None:
    """Shows the run until `ending` is done, and once more after that."""
    try:
        while not ending.done():
            rest = await _look(run, screen, pause)
            await asyncio.wait({ending}, timeout=rest)
        await _look(run, screen, pause)
    finally:
        screen.close()


async def _look(run: Run, screen: Screen, pause: float) -> float:
    started = time.perf_counter()
    with contextlib.suppress(Unavailable):  # if this lasts, waiting for the end reports it
        found = await run.picture()
        screen.show(found.view, found.waiting)
    return max(pause, _SHARE * (time.perf_counter() - started))


def screen(run: str, title: str) -> Screen:
    found = console(stderr=True)
    return LiveTree(found, run, title) if found.is_terminal and not found.is_dumb_terminal else Lines(found)


class LiveTree:
    def __init__(self, console: Console, run: str, title: str) -> None:
        self._run = run
        self._title = title
        self._console = console
        # A live tree is cut to the screen; the last one is printed whole
        self._live = Live(console=console, auto_refresh=False, transient=True, vertical_overflow="ellipsis")
        self._live.start()
        self._last: RenderableType | None = None

    def show(self, view: RunView, waiting: list[Reason]) -> None:
        self._last = self._picture(view, waiting)
        self._live.update(self._last, refresh=True)

    def close(self) -> None:
        self._live.stop()
        if self._last is not None:
            self._console.print(self._last)

    def _picture(self, view: RunView, waiting: list[Reason]) -> RenderableType:
        status = "blocked" if view.blocked is not None else view.status
        title = Text.assemble((self._title, "bold"), "  ", self._run, "  ", (status, run_view.STYLES[status]))
        tree = run_view.tree(view, waiting, words.now(), title=title)
        return Group(tree, *(Text(f"  {reason}", "yellow") for reason in run_view.loose(view, waiting)))


class Lines:
    """For pipes, files and CI: prints changes since the last poll in plain lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: dict[str, tuple[NodeStatus, int]] = {}
        self._said: set[str] = set()

    def show(self, view: RunView, waiting: list[Reason]) -> None:
        now = words.now()
        reasons = {reason.node: reason for reason in waiting}
        for node in run_view.nodes(view):
            state = (node.status, node.attempts if node.status == "retrying" else 0)
            if node.status != "pending" and self._seen.get(node.id) != state:
                self._seen[node.id] = state
                self._print(run_view.line(node, reasons.get(node.id), now, whole=True).plain)
        for reason in run_view.loose(view, waiting):
            if reason not in self._said:
                self._said.add(reason)
                self._print(reason)

    def _print(self, text: str) -> None:
        self._console.print(f"  {text}", soft_wrap=True)

    def close(self) -> None:
        return None


class Silent:
    def show(self, view: RunView, waiting: list[Reason]) -> None:
        return None

    def close(self) -> None:
        return None
