"""The demo's display: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from plait.cli import run_view
from plait.cli.output import STYLES, console
from plait.kernel.view import Reason, RunView


@dataclass(frozen=True, slots=True)
class Scene:
    """The status of all runs."""

    runs: list[tuple[RunView, list[Reason]]]
    engine: str


class Stage(Protocol):
    def show(self, scene: Scene) -> None: ...
    def tell(self, text: str) -> None: ...
    def close(self) -> None: ...


def stage() -> Stage:
    found = console()
    return LiveStage(found) if found.is_terminal and not found.is_dumb_terminal else PlainStage(found)


def _state(view: RunView) -> str:
    return "blocked" if view.blocked is not None else view.status


class LiveStage:
    def __init__(self, console: Console) -> None:
        self._told: deque[str] = deque(maxlen=9)
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def show(self, scene: Scene) -> None:
        grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for name, width in (("RUN", 10), ("STATUS", 9), ("DONE", 7), ("NOW", 46)):
            grid.add_column(name, width=width, no_wrap=True, overflow="ellipsis")
        for view, waiting in scene.runs:
            status = _state(view)
            now = Text(run_view.current(view, waiting))
            grid.add_row(Text(view.run_id), Text(status, STYLES[status]), Text(run_view.progress(view)), now)
        told = [
            Text(text, "" if index == len(self._told) - 1 else "bright_black") for index, text in enumerate(self._told)
        ]
        self._live.update(Group(Text(scene.engine, "bold"), Text(), grid, Text(), *told), refresh=True)

    def tell(self, text: str) -> None:
        self._told.append(text)

    def close(self) -> None:
        self._live.stop()


class PlainStage:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: dict[str, str] = {}

    def show(self, scene: Scene) -> None:
        for view, waiting in scene.runs:
            now = run_view.current(view, waiting)
            line = f"  {view.run_id}: {_state(view)}" + (f", {now}" if now else "")
            if self._seen.get(view.run_id) != line:
                self._seen[view.run_id] = line
                self._console.print(line, soft_wrap=True)

    def tell(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)

    def close(self) -> None:
        return None


class NoStage:
    def show(self, scene: Scene) -> None:
        return None

    def tell(self, text: str) -> None:
        return None

    def close(self) -> None:
        return None
