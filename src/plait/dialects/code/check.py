"""Whether the loaded code fits what a run has recorded. The pure part of `plait check`: starts and writes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from plait.kernel.errors import NotFound
from plait.kernel.ids import Millis, caller_id

from .definition import label_of
from .events import RunBlocked
from .machine import CodeMachine
from .registry import AnyWorkflow, Registry

Verdict = Literal["fits", "diverged", "not_loaded", "unreadable"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one run."""

    run: str
    namespace: str
    workflow: str
    verdict: Verdict
    where: str = ""
    """`file:line` of the workflow."""
    at: str = ""
    """The location in the history where the code diverges."""
    expected: str = ""
    """What the history has at that location."""
    found: str = ""
    """What the code asked for instead."""
    fix: str = ""
    paste: list[str] = field(default_factory=list[str])
    """Alternative lines for the workflow; adding one lets the run continue."""


def examine(machine: CodeMachine, registry: Registry, now: Millis) -> Finding:
    """Replays the workflow against the run's history, without calling its steps."""
    info = machine.info
    label = label_of(info.definition, info.version)
    run = caller_id(info.run_id)
    definition = registry.find((info.definition, info.version))
    if definition is None:
        return Finding(run, info.namespace, label, "not_loaded", fix=_hint(registry.not_loaded(label)))
    if machine.history.seq == 0:  # created but not started: nothing to compare
        return Finding(run, info.namespace, label, "fits", definition.where)
    blocked = _input_misfit(definition, machine) or machine.check(now)
    if blocked is None:
        return Finding(run, info.namespace, label, "fits", definition.where)
    return Finding(
        run,
        info.namespace,
        label,
        "diverged",
        definition.where,
        blocked.at,
        blocked.expected,
        blocked.found,
        blocked.fix,
        _lines(blocked),
    )


def _input_misfit(definition: AnyWorkflow, machine: CodeMachine) -> RunBlocked | None:
    try:
        definition.arguments(machine.history.input)
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        name = getattr(definition.input_type, "__name__", str(definition.input_type))
        fix = "make the input type accept what the run was started with"
        return RunBlocked("CODE_DECODE", "input", "an input that was accepted", f"`{name}`: {error}", fix)
    return None


def _lines(blocked: RunBlocked) -> list[str]:
    """The code between backticks in the fix that a divergence suggests."""
    if blocked.code != "CODE_DIVERGED":
        return []
    return [part for part in re.findall(r"`([^`]+)`", blocked.fix) if part.startswith(("await ctx.", "if await ctx."))]


def _hint(error: NotFound) -> str:
    return f"{error.what}; {error.why}"
