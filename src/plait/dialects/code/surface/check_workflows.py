"""`plait check` of workflows: does the code fit the live runs, and is it deterministic?"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from rich.text import Text

from plait.cli import exits, words
from plait.cli.extension import CheckRequest
from plait.cli.output import document, note, say
from plait.cli.session import is_missing, looking
from plait.dialects.code.check import Finding, examine
from plait.dialects.code.definition import is_workflow
from plait.dialects.code.determinism_lint import Warning, lint
from plait.dialects.code.machine import CodeMachine
from plait.kernel.errors import PlaitError
from plait.kernel.ids import caller_id
from plait.kernel.store import RunFilter, RunRow
from plait.registry.engine import Engine

_PAGE = 1000


async def check_workflows(modules: Sequence[ModuleType], request: CheckRequest) -> CheckedWorkflows:
    """Lints the workflows, then replays all live runs on them, without effects."""
    result = CheckedWorkflows(warnings=_lint(modules))
    if not request.json:
        _say_warnings(result.warnings)  # printed at once: the replay may be refused
    where = request.where
    if where is not None and not (request.register and is_missing(where.url)):
        result.replayed = True
        await _replay(where.url, request.modules, result)
    return result


@dataclass(slots=True)
class CheckedWorkflows:
    replayed: bool = False
    checked: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    """Results of runs that don't fit or could not be checked."""
    warnings: list[Warning] = field(default_factory=list[Warning])

    @property
    def exit(self) -> int:
        if any(finding.verdict == "diverged" for finding in self.findings):
            return exits.FAILED
        return exits.REFUSED if self.findings else exits.OK

    def say(self) -> None:
        _say_findings(self)

    def document(self) -> dict[str, Any]:
        return _document(self)


# -- lint --------------------------------------------------------------------------------------------------------


def _lint(modules: Sequence[ModuleType]) -> list[Warning]:
    """Lints the workflows of these modules, each in the file it is written in."""
    files: dict[str, dict[int, str]] = {}
    for module in modules:
        for workflow in (found for found in vars(module).values() if is_workflow(found)):
            code = inspect.unwrap(workflow.fn).__code__
            files.setdefault(code.co_filename, {})[code.co_firstlineno] = workflow.label
    return [warning for file, lines in sorted(files.items()) for warning in _lint_file(file, lines)]


def _lint_file(file: str, workflows: dict[int, str]) -> list[Warning]:
    try:
        source = Path(file).read_text("utf-8")
    except OSError:
        return []  # created at run time: there is no source
    return lint(source, _relative(file), workflows)


def _relative(file: str) -> str:
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


# -- replay ------------------------------------------------------------------------------------------------------


async def _replay(db: str, modules: Sequence[ModuleType], result: CheckedWorkflows) -> None:
    async with looking(db, modules) as engine:
        async for row in _live_runs(engine):
            finding = await _examine(engine, row)
            result.checked += 1
            if finding.verdict != "fits":
                result.findings.append(finding)


async def _live_runs(engine: Engine) -> AsyncGenerator[RunRow]:
    """All live runs of every namespace, page by page."""
    after = None
    while True:
        rows = await engine.runs(RunFilter(status="running", dialect="code", after=after, limit=_PAGE))
        for row in rows:
            yield row
        if len(rows) < _PAGE:
            return
        after = (rows[-1].created_at, rows[-1].id)


async def _examine(engine: Engine, row: RunRow) -> Finding:
    try:
        run = await engine.kernel.peek(row)
        return examine(cast("CodeMachine", run.machine), engine.code.registry, words.now())
    except PlaitError as error:
        return Finding(caller_id(row.id), row.namespace, row.definition, "unreadable", fix=str(error))


# -- output ------------------------------------------------------------------------------------------------------


def _say_warnings(warnings: list[Warning]) -> None:
    for warning in warnings:
        text = Text.assemble((f"{warning.file}:{warning.line}: ", "bold"), ("warning ", "yellow"), warning.message)
        say(text.append(f" [{warning.code}]", "bright_black"))


def _say_findings(result: CheckedWorkflows) -> None:
    for finding in result.findings:
        if finding.verdict == "diverged":
            _say_divergence(finding)
        else:
            note(f"run {finding.run} could not be checked: {finding.fix}", "red")
    diverged = sum(finding.verdict == "diverged" for finding in result.findings)
    parts = [words.counted(len(result.warnings), "warning")]
    if result.replayed:
        parts = [
            f"{words.counted(result.checked, 'live run')} checked",
            f"{diverged} {'does' if diverged == 1 else 'do'} not fit" if diverged else "",
            f"{len(result.findings) - diverged} not checked" if len(result.findings) > diverged else "",
            *parts,
        ]
    say(", ".join(part for part in parts if part))


def _say_divergence(finding: Finding) -> None:
    say(Text.assemble((_relative(finding.where) + ": ", "bold"), ("error ", "red"), f"run {finding.run} does not fit"))
    say(f"  at      {finding.at}")
    say(f"  history {finding.expected}")
    say(f"  code    {finding.found}")
    if finding.paste:
        removed, guarded = finding.paste[0], finding.paste[1:]
        say(f"  paste where it was, if it was deleted or renamed:\n      {removed}")
        for line in guarded:
            say(f"  and above new code that comes before it:\n      {line}")
    else:
        say(f"  fix     {finding.fix}")


def _document(result: CheckedWorkflows) -> dict[str, Any]:
    return {
        "checked": result.checked,
        "runs": [
            document(
                id=finding.run,
                namespace=finding.namespace,
                definition=finding.workflow,
                verdict=finding.verdict,
                where=finding.where or None,
                at=finding.at or None,
                expected=finding.expected or None,
                found=finding.found or None,
                fix=finding.fix or None,
                paste=finding.paste or None,
            )
            for finding in result.findings
        ],
        "warnings": result.warnings,
    }
