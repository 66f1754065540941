"""Figures of trials beside their limits: a line when a trial ends, and with `--long` a table of all of them at the end.

    async def test_…(figures: Figures):
        figures.note("runs", 10_000)
        figures.at_most("resumed after, p99", 3.4, 12, "s")     # fails if it is more

They travel with the reports of tests, so that those of other test processes are shown, too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, cast

import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table

PROPERTY = "figures"


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str = ""
    limit: str = ""
    met: bool = True

    @property
    def text(self) -> str:
        value = f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:,.2f}"
        return f"{value} {self.unit}".rstrip()


class Figures:
    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        """As a report carries them."""

    def note(self, name: str, value: float, unit: str = "") -> None:
        self.found.append(asdict(Figure(name, value, unit)))

    def at_most(self, name: str, value: float, limit: float, unit: str = "") -> None:
        self._hold(Figure(name, value, unit, f"≤ {limit:g}", value <= limit))

    def at_least(self, name: str, value: float, limit: float, unit: str = "") -> None:
        self._hold(Figure(name, value, unit, f"≥ {limit:g}", value >= limit))

    def none(self, name: str, value: int) -> None:
        """What must not be."""
        self._hold(Figure(name, value, "", "0", value == 0))

    def spread(self, name: str, values: Sequence[float], most: float | None = None) -> None:
        """How seconds are spread; `most` holds for the 99th percentile, and then there must be some."""
        found = sorted(values)
        self.note(f"{name}, times", len(found))
        assert found or most is None, f"{name}: nothing was measured"
        if not found:
            return
        self.note(f"{name}, p50", _percentile(found, 0.5), "s")
        self.note(f"{name}, max", found[-1], "s")
        p99 = _percentile(found, 0.99)
        if most is None:
            self.note(f"{name}, p99", p99, "s")
        else:
            self.at_most(f"{name}, p99", p99, most, "s")

    def _hold(self, figure: Figure) -> None:
        self.found.append(asdict(figure))
        assert figure.met, f"{figure.name}: {figure.text}, not {figure.limit}"


def _percentile(ordered: Sequence[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    found = Figures()
    request.node.user_properties.append((PROPERTY, found.found))
    return found


# -- showing them ------------------------------------------------------------------------------------------------


class Terminal(Protocol):
    """As much of pytest's as is needed."""

    def ensure_newline(self) -> None: ...
    def write_line(self, line: str, /) -> None: ...


class Reporter:
    def __init__(self, terminal: Terminal, *, long: bool) -> None:
        self._terminal = terminal
        self._long = long
        self._trials: list[tuple[str, list[Figure]]] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        given = cast("list[dict[str, Any]]", dict(report.user_properties).get(PROPERTY, []))
        found = [Figure(**each) for each in given]
        if report.when != "call" or not found:
            return
        trial = report.nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")
        self._trials.append((trial, found))
        line = ", ".join(f"{figure.name} {figure.text}" for figure in found)
        self._terminal.ensure_newline()
        self._terminal.write_line(f"{trial}: {line}")

    def pytest_terminal_summary(self) -> None:
        if self._trials and self._long:
            console = Console(file=io.StringIO(), width=110, highlight=False)
            with console.capture() as captured:
                console.print(_table(self._trials))
            self._terminal.write_line(captured.get())


def _table(trials: list[tuple[str, list[Figure]]]) -> Table:
    table = Table(title="Trials")
    table.add_column("trial", ratio=3)
    for column in ("figure", "value", "limit", ""):
        table.add_column(column, justify="right" if column == "value" else "left", no_wrap=True)
    for trial, found in trials:
        for place, figure in enumerate(found):
            verdict = "" if not figure.limit else "met" if figure.met else "missed"
            last = place == len(found) - 1
            table.add_row(
                "" if place else escape(trial), figure.name, figure.text, figure.limit, verdict, end_section=last
            )
    return table


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(terminal, pytest.TerminalReporter) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(terminal, long=bool(config.getoption("long"))), "trial-figures")
