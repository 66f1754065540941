"""The figures, each beside its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.api.orders import Lags, Order, Report
from bench.api.witness import Evidence


@dataclass(frozen=True)
class Outcome:
    order: Order
    report: Report
    evidence: Evidence
    ready_again: float | None
    """Seconds until the killed server was ready again; None when it was not killed."""
    stopped: float
    cpu: float
    """Seconds of processor time of the server during the load; of no meaning when it was killed."""


@dataclass(frozen=True)
class Figure:
    name: str
    target: str
    value: str
    met: bool | None
    """None: there is no target, it is shown."""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "target": self.target, "value": self.value, "met": self.met}


def figures(outcome: Outcome) -> list[Figure]:
    order, report, evidence = outcome.order, outcome.report, outcome.evidence
    rate = report.acknowledged / report.seconds if report.seconds else 0.0
    found = [
        _at_least("acknowledged starts a second", 0.98 * order.rate if outcome.ready_again is None else 0.0, rate),
        _zero("errors", sum(report.errors.values())),
        _exactly("acknowledged", report.requests, report.acknowledged),
        _shown("latency from the due time", _lags(report.latency)),
        _shown("of that, late in the load process itself", _lags(report.late)),
        _zero("acknowledged, not there afterwards", evidence.lost),
        _zero("acknowledged, not completed", evidence.unfinished),
        _zero("steps of acknowledged runs that never ran", evidence.unrun_steps),
        _shown("steps that ran again", f"{evidence.repeated_steps:,}"),
        _zero("runs listed twice", evidence.listed_twice),
    ]
    if order.watchers:
        found += _watching(outcome)
    if outcome.ready_again is not None:
        found += [
            _shown("requests sent again", f"{report.retries:,}"),
            _shown("killed server ready again after", f"{outcome.ready_again:.2f} s"),
            _shown("longest pause between acknowledgements", f"{report.pause:.2f} s"),
        ]
    else:
        found.append(_shown("processor time of the server", _cpu(outcome)))
    return [*found, _shown("SIGTERM to exit", f"{outcome.stopped:.2f} s")]


def _cpu(outcome: Outcome) -> str:
    """A machine that is busy with other things is slow; this figure is the same."""
    each = 1_000_000 * outcome.cpu / max(1, outcome.report.acknowledged)
    return f"{outcome.cpu:.1f} s, {each:,.0f} µs a start with its three steps and all watching"


def _watching(outcome: Outcome) -> list[Figure]:
    order, report = outcome.order, outcome.report
    killed = outcome.ready_again is not None
    reconnects = f"{report.reconnects:,}"
    return [
        _exactly("watchers live at the end of the load", order.watchers, report.live),
        _shown("frames heard", f"{report.frames:,}"),
        _shown("lag of events", _lags(report.lag)),
        _shown("lag of the live list", _lags(report.list_lag)),
        _zero("gaps", report.gaps),
        _zero("repetitions", report.repeated),
        _zero("watched runs whose end was not told", report.unfinished),
        _zero("live lists that differ from the list", report.stale),
        _shown("reconnects", reconnects) if killed else _zero("reconnects", report.reconnects),
    ]


def _at_least(name: str, bound: float, value: float) -> Figure:
    return Figure(name, f"≥ {bound:,.0f}" if bound else "–", f"{value:,.0f}", value >= bound if bound else None)


def _exactly(name: str, wanted: int, value: int) -> Figure:
    return Figure(name, f"{wanted:,}", f"{value:,}", value == wanted)


def _zero(name: str, value: int) -> Figure:
    return _exactly(name, 0, value)


def _shown(name: str, value: str) -> Figure:
    return Figure(name, "–", value, None)


def _lags(lags: Lags) -> str:
    return f"p50 {lags.p50:.1f}  p95 {lags.p95:.1f}  p99 {lags.p99:.1f}  max {lags.max:.0f} ms"


def show(console: Console, outcome: Outcome) -> None:
    order = outcome.order
    killed = "" if outcome.ready_again is None else ", kill -9 under way"
    title = f"POST /api/v1/runs, {order.rate:,.0f} a second for {order.seconds:g} s, {order.watchers} watchers{killed}"
    console.print(title, style="bold")
    table = Table("", "target", "measured", "")
    for figure in figures(outcome):
        mark = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[figure.met]
        table.add_row(figure.name, figure.target, figure.value, mark)
    console.print(table)
    for error, count in outcome.report.errors.items():
        console.print(f"error, {count} times: {error}", markup=False, style="red")
    for trouble in outcome.report.troubles:
        console.print(f"watcher: {trouble}", markup=False, style="red")
