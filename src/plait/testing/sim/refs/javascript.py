"""JavaScript in a simulation: the real sandbox, answering synchronously."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Raw

from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.javascript import JavaScriptError
from plait.scripts.javascript.answer import value_of
from plait.scripts.javascript.limits import DEFAULT
from plait.scripts.javascript.pool import PROGRAM, Op, request_of
from plait.testing.sim.instant_process import InstantProcess


class InstantJavaScript:
    """One sandbox for all engines of this process."""

    def __init__(self) -> None:
        self._process = InstantProcess(PROGRAM)
        self._known: dict[tuple[Op, str, bytes], Any] = {}

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            self._ask("compile", script, Raw(b"null"))
        except JavaScriptError as error:
            raise CompileError(error.message, error.line, error.fix) from None

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        return self._run("run", script, document)

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        return self._run("holds", script, document)

    def _run(self, op: Op, script: str, document: Raw) -> Any:
        try:
            return self._ask(op, script, document)
        except JavaScriptError as error:
            raise ScriptError(error.what, retryable=False, code=error.code) from None

    def _ask(self, op: Op, script: str, document: Raw) -> Any:
        """A script depends only on its document, so its result is cached."""
        place = (op, script, bytes(document))
        if place not in self._known:
            answer = self._process.ask(request_of(op, script, document, DEFAULT))
            self._known[place] = value_of(answer, document)
        return self._known[place]


@cache
def instant_javascript() -> InstantJavaScript:
    """Started when the first engine is furnished; ends with this process."""
    return InstantJavaScript()
