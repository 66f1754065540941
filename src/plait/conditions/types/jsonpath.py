"""`jsonpath`: a query on `output`, and a test of its matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from plait.conditions import jsonpath, verdict
from plait.conditions.budget import Budget, OutOfSteps, is_number
from plait.conditions.facts import Facts
from plait.conditions.source import Source
from plait.conditions.test import NOTHING
from plait.conditions.verdict import Verdict

from . import aggregates
from .aggregates import Mismatch
from .cel import OUT_OF_STEPS

MAX_MATCHES: Final = 10_000

Holds = Callable[[Budget, list[Any], Any], bool]
"""Whether the matches satisfy an operator with its operand."""

_LENGTH: Final = re.compile(r"\s*\.\s*length\(\s*\)\s*$")


def _some(test: Callable[[Budget, Any, Any], bool]) -> Holds:
    return lambda budget, matches, operand: any(test(budget, each, operand) for each in matches)


def _is_in(budget: Budget, value: Any, operand: Iterable[Any]) -> bool:
    return any(budget.equal(value, each) for each in operand)


def _contains(budget: Budget, value: Any, part: Any) -> bool:
    if isinstance(value, str):
        budget.take(len(value) >> 6)
        return isinstance(part, str) and part in value
    return isinstance(value, list) and _is_in(budget, part, cast("list[Any]", value))


def _at_most(budget: Budget, left: Any, right: Any) -> bool:
    return budget.less(left, right) or (budget.comparable(left, right) and budget.equal(left, right))


_ORDERINGS: Final[dict[str, Holds]] = {
    ">": _some(lambda budget, value, operand: budget.less(operand, value)),
    "<": _some(lambda budget, value, operand: budget.less(value, operand)),
    ">=": _some(lambda budget, value, operand: _at_most(budget, operand, value)),
    "<=": _some(lambda budget, value, operand: _at_most(budget, value, operand)),
}
_WITHOUT_VALUE: Final[dict[str, Holds]] = {
    "exists": lambda _, matches, __: bool(matches),
    "not_exists": lambda _, matches, __: not matches,
}
_OF_LISTS: Final[dict[str, Holds]] = {
    "in": _some(_is_in),
    "not_in": lambda budget, found, operand: bool(found) and not any(_is_in(budget, each, operand) for each in found),
}
_OPERATORS: Final[dict[str, Holds]] = {
    **_WITHOUT_VALUE,
    **_ORDERINGS,
    "==": _some(lambda budget, value, operand: budget.equal(value, operand)),
    "!=": _some(lambda budget, value, operand: not budget.equal(value, operand)),
    **_OF_LISTS,
    "contains": _some(_contains),
    **aggregates.OPERATORS,
}


class JsonPathTest:
    reads = NOTHING

    def __init__(self, query: jsonpath.Query, length: bool, holds: Holds, operand: Any) -> None:
        self._query = query
        self._length = length
        self._holds = holds
        self._operand = operand

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        try:
            matches = self._query.find_within(facts.output, budget)
            if len(matches) > MAX_MATCHES:
                return verdict.failed("budget", f"the query has more than {MAX_MATCHES:,} matches; ask for less")
            if self._length:
                matches = self._lengths(matches)
            return verdict.of(self._holds(budget, matches, self._operand))
        except (jsonpath.JsonPathBudget, jsonpath.JsonPathTimeout, OutOfSteps):
            return verdict.failed("budget", OUT_OF_STEPS)
        except Mismatch as error:
            return verdict.failed("type_mismatch", str(error))
        except OverflowError:
            return verdict.failed("overflow", "the numbers are beyond finite fractions")

    def _lengths(self, matches: list[Any]) -> list[Any]:
        """The value of `.length()`: the length of the matched value for a path to one place, else the number of
        matches."""
        if not self._query.singular:
            return [len(matches)]
        for each in matches:
            if not isinstance(each, str | list | dict):
                raise Mismatch(f"`.length()` needs an array, an object or a string at {self._query.text}")
        return [len(each) for each in matches]


def read(source: Source) -> JsonPathTest | None:
    source.allow("query", "operator", "value")
    text = source.text("query")
    operator = source.choice("operator", tuple(_OPERATORS), "exists")
    query = None if text is None else _query(source, text)
    if query is None or operator is None or not _takes_value(source, operator):
        return None
    return JsonPathTest(*query, _OPERATORS[operator], source.fields.get("value"))


def _query(source: Source, text: str) -> tuple[jsonpath.Query, bool] | None:
    if len(text) > jsonpath.MAX_TEXT:
        what = f"condition is {len(text):,} characters, limit {jsonpath.MAX_TEXT:,}"
        source.refuse(what, "shorten the query", at="query", code="too_big")
        return None
    bare = _LENGTH.sub("", text)
    try:
        query = jsonpath.compile(bare)
    except jsonpath.JsonPathError as error:
        where = f"at column {error.column} of `{text:.64}`: " if error.column else ""
        source.refuse(f"invalid condition {where}{error.message}", error.fix, at="query", code="syntax")
        return None
    if query.compares:
        source.refuse("`query` is a comparison", "give its path, and compare with `operator` and `value`", at="query")
        return None
    return query, bare != text


def _takes_value(source: Source, operator: str) -> bool:
    """Whether the operand has a type that the operator accepts."""
    value = source.fields.get("value")
    if operator in _WITHOUT_VALUE:
        fits, wanted = not source.has("value"), "no `value`"
    elif operator in _ORDERINGS:
        fits, wanted = is_number(value) or isinstance(value, str), "a number or a string as `value`"
    elif operator in _OF_LISTS:
        fits, wanted = isinstance(value, list), "a list as `value`"
    elif operator in aggregates.OPERATORS:
        fits, wanted = is_number(value), "a number as `value`"
    else:
        fits, wanted = source.has("value"), "a `value`"
    if not fits:
        source.refuse(f"`{operator}` takes {wanted}", at="value" if source.has("value") else None)
    return fits
