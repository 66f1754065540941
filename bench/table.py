"""The result for people: one table a work, then the targets."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from bench import interpreter
from bench.catalog import Subject
from bench.results import Results
from bench.targets import Verdict
from bench.works import WORKS, Measure

NOTHING = "–"


def show(console: Console, results: Results, verdicts: list[Verdict]) -> None:
    for work in results.works():
        console.print(f"\n{work}  {WORKS[work].title}", style="bold")
        console.print(_work_table(results, work))
    if verdicts:
        console.print("\nTargets" + (", at quick sizes: an indication only" if results.quick else ""), style="bold")
        console.print(_target_table(verdicts))
    for line in _remarks(results):
        console.print(line, style="dim", markup=False)


def _work_table(results: Results, work: str) -> Table:
    table = Table()
    table.add_column("subject", no_wrap=True)
    measures = WORKS[work].headline
    limited = {measure.name for measure in measures if _has_limit(results, work, measure)}
    for measure in measures:
        table.add_column(measure.label, justify="right")
        if measure.compared:
            table.add_column("Plait is", justify="right", style="dim")
        if measure.name in limited:
            table.add_column("of limit", justify="right", style="dim")
    for subject in results.subjects(work):
        table.add_row(subject.name, *_row(results, work, subject, limited), style=_STYLES[subject.kind])
    return table


_STYLES = {"plait": "bold", "peer": "", "limit": "italic"}


def _row(results: Results, work: str, subject: Subject, limited: set[str]) -> list[str]:
    if (work, subject.name) in results.failures:
        return ["[red]failed[/]"]
    cells: list[str] = []
    for measure in WORKS[work].headline:
        cells.append(_number(results.value(work, subject.name, measure.name)))
        if measure.compared:
            gain = results.plait_gain(work, subject.name, measure) if subject.kind == "peer" else None
            cells.append(NOTHING if gain is None else f"{_number(gain)}×")
        if measure.name in limited:
            share = results.share_of_limit(work, subject.name, measure)
            cells.append(NOTHING if share is None else f"{share:.1%}")
    return cells


def _has_limit(results: Results, work: str, measure: Measure) -> bool:
    names = (subject.name for subject in results.subjects(work))
    return any(results.share_of_limit(work, name, measure) is not None for name in names)


def _target_table(verdicts: list[Verdict]) -> Table:
    table = Table()
    for name in ("work", "subject", "what"):
        table.add_column(name, no_wrap=True)
    for name in ("target", "measured"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for verdict in verdicts:
        target = verdict.target
        label = WORKS[target.work].measure(target.measure).label
        verdict_text = {True: "[green]met[/]", False: "[red]not met[/]", None: "[dim]not measured[/]"}[verdict.met]
        table.add_row(target.work, target.subject, label, _bound(verdict), _number(verdict.value), verdict_text)
    return table


def _bound(verdict: Verdict) -> str:
    target = verdict.target
    sign = "≥" if target.bound == "at least" else "≤"
    if target.of is None:
        return f"{sign} {_number(target.figure)}"
    return f"{sign} {target.figure:g} × {target.of} = {_number(verdict.threshold)}"


def _remarks(results: Results) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(results.versions.items()))
    rounds = ", ".join(f"{work} {results.rounds(work)}" for work in results.works())
    remarks = [
        f"Medians; rounds: {rounds}.",
        "'Plait is': so many times better than this subject, on the same kind of store.",
        "'of limit': share of what the bare database reaches with the same rows.",
    ]
    remarks.append(interpreter.description())
    if versions:
        remarks.append(f"Versions: {versions}.")
    remarks.extend(f"Failed: {work} {name}: {reason}" for (work, name), reason in results.failures.items())
    remarks.extend(f"Left out: {name}: {reason}" for name, reason in results.left_out.items())
    remarks.extend(f"Unsteady machine, doubtful ratios: {doubt}" for doubt in results.doubts())
    return [*remarks, *results.notes]


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
