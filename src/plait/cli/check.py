"""`plait check`: does the loaded code fit the live runs? A lint of the workflows; and are steps right?"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated, cast

import typer
from rich.text import Text

from plait.dialects.code.check import Finding, examine
from plait.dialects.code.determinism_lint import Warning, lint
from plait.dialects.code.machine import CodeMachine
from plait.kernel.errors import InvalidInput, PlaitError
from plait.kernel.ids import caller_id
from plait.kernel.store import RunFilter, RunRow
from plait.registry import Engine

from . import exits, words
from .check_steps import StepsResult, check_in, is_missing, say_steps, steps_document
from .loading import load_module, steps_of, workflows_of
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import document, emit, note, say
from .session import do, looking
from .step_files import Written, in_file, in_module, is_file

_PAGE = 1000


@dataclass(slots=True)
class Result:
    checked: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    """Of runs that don't fit, or could not be checked."""
    warnings: list[Warning] = field(default_factory=list[Warning])
    steps: StepsResult | None = None

    @property
    def exit(self) -> int:
        if any(finding.verdict == "diverged" for finding in self.findings):
            return exits.FAILED
        if self.steps is not None and self.steps.wrongs:
            return exits.FAILED
        return exits.REFUSED if self.findings else exits.OK


def check(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE|FILE.json...", help="Code with workflows and steps, or steps.", show_default=False
        ),
    ],
    lint_only: Annotated[bool, typer.Option("--lint-only", help="Look at the code alone, without a database.")] = False,
    register: Annotated[bool, typer.Option("--register", help="Put the steps into the catalog: all or none.")] = False,
    update: Annotated[bool, typer.Option("--update", help="With --register: change steps that are there.")] = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Replay all live runs on the code of these modules, without effects, and lint the workflows. Check the steps that
    they declare, or that JSON files hold: their shape, their scripts, their place in the catalog.

    Exit code 0: it fits. 1: a run does not fit, and the place and the line to paste are printed; or a step is wrong.
    2: could not check, for one because a run's workflow is not in these modules. Lint warnings don't change it.
    """
    if (lint_only and register) or (update and not register):
        raise InvalidInput("cli.usage", "--update goes with --register, and that with a database", fix="see --help")
    loaded = [load_module(name) for name in names if not is_file(name)]
    written = [*_written(names), *(each for module in loaded for each in in_module(module))]
    coded = [module for module in loaded if workflows_of(module)]
    _must_declare(loaded)
    result = Result(warnings=_lint(coded))
    if not json:
        _say_warnings(result.warnings)
    where = None if lint_only else Where(db, key, namespace)
    if coded and where is not None and not (register and is_missing(where)):
        do(_replay(db, loaded, result))
    if written:
        result.steps = do(check_in(written, where, register=register, update=update))
    _report(result, coded=bool(coded), lint_only=lint_only, json=json)
    raise typer.Exit(result.exit)


def _written(names: list[str]) -> Iterator[Written]:
    for name in names:
        if is_file(name):
            yield from in_file(name)


def _must_declare(modules: list[ModuleType]) -> None:
    for module in modules:
        if not workflows_of(module) and not steps_of(module):
            raise InvalidInput(
                "cli.no_workflow",
                f"{module.__name__} has no workflows",
                why="and no steps",
                fix="mark functions with @workflow, or name another",
            )


# -- lint --------------------------------------------------------------------------------------------------------


def _lint(modules: list[ModuleType]) -> list[Warning]:
    """The workflows of these modules, each in the file it is written in."""
    files: dict[str, dict[int, str]] = {}
    for module in modules:
        for workflow in workflows_of(module).values():
            code = inspect.unwrap(workflow.fn).__code__
            files.setdefault(code.co_filename, {})[code.co_firstlineno] = workflow.label
    return [warning for file, lines in sorted(files.items()) for warning in _lint_file(file, lines)]


def _lint_file(file: str, workflows: dict[int, str]) -> list[Warning]:
    try:
        source = Path(file).read_text("utf-8")
    except OSError:
        return []  # made at run time: there is no source to look at
    return lint(source, _relative(file), workflows)


def _relative(file: str) -> str:
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


# -- replay ------------------------------------------------------------------------------------------------------


async def _replay(db: str, modules: list[ModuleType], result: Result) -> None:
    async with looking(db, modules) as engine:
        async for row in _live_runs(engine):
            finding = await _examine(engine, row)
            result.checked += 1
            if finding.verdict != "fits":
                result.findings.append(finding)


async def _live_runs(engine: Engine) -> AsyncGenerator[RunRow]:
    """All of them, of every namespace, page by page."""
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


# -- saying it ---------------------------------------------------------------------------------------------------


def _report(result: Result, *, coded: bool, lint_only: bool, json: bool) -> None:
    if json:
        about_code = _document(result) if coded else {"fits": result.exit == exits.OK}
        emit(about_code | (steps_document(result.steps) if result.steps is not None else {}))
        return
    if coded:
        _say_findings(result, lint_only=lint_only)
    if result.steps is not None:
        say_steps(result.steps)


def _say_warnings(warnings: list[Warning]) -> None:
    for warning in warnings:
        text = Text.assemble((f"{warning.file}:{warning.line}: ", "bold"), ("warning ", "yellow"), warning.message)
        say(text.append(f" [{warning.code}]", "bright_black"))


def _say_findings(result: Result, *, lint_only: bool) -> None:
    for finding in result.findings:
        if finding.verdict == "diverged":
            _say_divergence(finding)
        else:
            note(f"run {finding.run} could not be checked: {finding.fix}", "red")
    diverged = sum(finding.verdict == "diverged" for finding in result.findings)
    parts = [words.counted(len(result.warnings), "warning")]
    if not lint_only:
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


def _document(result: Result) -> dict[str, object]:
    return {
        "checked": result.checked,
        "fits": result.exit == exits.OK,
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
