"""`cel`: an expression over `output`, `ctx`, `current` and `input`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plait.conditions import verdict
from plait.conditions.budget import MAX_STEPS, Budget, OutOfSteps
from plait.conditions.cel import CelError, CelSyntaxError, Expression
from plait.conditions.facts import Facts
from plait.conditions.findings import Findings, shortened
from plait.conditions.source import Source
from plait.conditions.test import Read, Reads, Test
from plait.conditions.verdict import Verdict

OUT_OF_STEPS = f"the condition takes more than {MAX_STEPS:,} steps; ask for less: shorten lists, avoid macros in macros"


class CelTest:
    def __init__(self, expression: Expression, pointer: str) -> None:
        self._expression = expression
        self.reads = Reads(
            tuple(Read(node, f"ctx.{node}", pointer) for node in sorted(expression.reads)), expression.reads_all
        )

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        try:
            found = self._expression.evaluate(facts.names, facts.node, budget)
        except CelError as error:
            return self._failed(error)
        except OutOfSteps:
            return verdict.failed("budget", OUT_OF_STEPS)
        if found is True:
            return verdict.TRUE
        if found is False:
            return verdict.FALSE
        shown = shortened(self._expression.text)
        return verdict.failed("not_boolean", f"the value of `{shown}` is not true or false; compare it with something")

    def _failed(self, error: CelError) -> Verdict:
        return verdict.failed(error.code, error.message)


def read(source: Source, names: Sequence[str]) -> Test | None:
    source.allow("expression")
    text = source.text("expression")
    return None if text is None else of_text(text, source.at("expression"), source.findings, names)


def of_text(
    text: str,
    pointer: str,
    findings: Findings,
    names: Sequence[str],
    make: Callable[[Expression, str], Test] = CelTest,
) -> Test | None:
    try:
        return make(Expression(text, names), pointer)
    except CelSyntaxError as error:
        findings.add(error.code, pointer, _told(error, text), error.fix)
        return None


def _told(error: CelSyntaxError, text: str) -> str:
    if not error.column:
        return error.message
    return f"invalid condition at column {error.column} of `{shortened(text)}`: {error.message}"
