"""JSONPath as a script language: the document is whatever JSON value the caller passes.

It holds if the path matches anything, including null, or if the comparison is true. The value of a path is its single
match, or the list of several; no match is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import Raw

from plait.conditions import jsonpath
from plait.kernel import values
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.offloading import NotEnough, Offloading

T = TypeVar("T")

_QUICK_STEPS = 500
_STEPS = 2_000_000
_MAX_RESULT = 1024 * 1024
"""Bytes of a value as JSON, as in the other languages."""


class JPath:
    def __init__(self, offloading: Offloading) -> None:
        self._offloading = offloading

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            query = jsonpath.compile(script)
        except jsonpath.JsonPathError as error:
            raise CompileError(error.message, error.line, error.fix) from None
        if len(names) == 1:  # a mapping or a `match`, whose document is the value itself: any JSON value
            return
        for name in query.names:
            if name not in names:
                raise CompileError(f"unknown name '{name}'", 1)

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        return await self._run(script, document, _value)

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        return await self._run(script, document, jsonpath.Query.holds)

    async def _run(self, script: str, document: Raw, ask: Callable[[jsonpath.Query, Any, int], T]) -> T:
        def quick() -> T:
            try:
                return ask(jsonpath.compile(script), values.decode(document), _QUICK_STEPS)
            except jsonpath.JsonPathBudget:
                raise NotEnough from None

        def full() -> T:
            return ask(jsonpath.compile(script), values.decode(document), _STEPS)

        try:
            return await self._offloading.run(document, quick, full)
        except jsonpath.JsonPathError as error:
            where = f"line {error.line}: " if error.line else ""
            raise ScriptError(f"{where}{error.message}", retryable=False) from None


def _value(query: jsonpath.Query, document: Any, steps: int) -> Any:
    found = query.find(document, steps)
    if not found:
        raise ScriptError(f"nothing matches {query.text.strip()[:200]}", retryable=False)
    if not _fits(found):
        raise ScriptError("result too large", retryable=False)
    return found[0] if len(found) == 1 else found


def _fits(found: list[Any]) -> bool:
    """A query may select one large value many times, so the size is computed without writing the values out."""
    sizes: dict[int, int] = {}
    total = 0
    for each in found:
        if id(each) not in sizes:
            sizes[id(each)] = len(values.plain(each)) + 1
        total += sizes[id(each)]
        if total > _MAX_RESULT:
            return False
    return True
