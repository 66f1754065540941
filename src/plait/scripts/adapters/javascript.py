"""JavaScript and TypeScript: the default export receives the document; `console` writes to the task's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.task import current_attempt
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.javascript import JavaScriptCrash, JavaScriptError, JavaScriptLimits, JavaScriptPool
from plait.scripts.javascript.limits import DEFAULT


class JavaScript:
    def __init__(self) -> None:
        self._pool = JavaScriptPool()

    async def close(self) -> None:
        await self._pool.stop()

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            await self._pool.compile(script)
        except JavaScriptError as error:
            raise CompileError(error.message, error.line, error.fix) from None

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        try:
            outcome = await self._pool.run(script, document, _limits(timeout))
        except JavaScriptError as error:
            raise _failure(error) from None
        _log(outcome.printed)
        try:
            values.encode(outcome.value)
        except PlaitError as error:
            raise ScriptError(f"{error.what}: {error.why}", retryable=False, code="code_bad_output") from None
        return outcome.value

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        try:
            outcome = await self._pool.holds(script, document, _limits(timeout))
        except JavaScriptError as error:
            raise _failure(error) from None
        _log(outcome.printed)
        return outcome.value


def _limits(timeout: float | None) -> JavaScriptLimits:
    return DEFAULT if timeout is None else JavaScriptLimits(seconds=timeout)


def _failure(error: JavaScriptError) -> ScriptError:
    _log(error.printed)
    # A worker may have died because of another script, so a crash is retryable; all other errors are deterministic.
    return ScriptError(error.what, retryable=isinstance(error, JavaScriptCrash), code=error.code)


def _log(lines: Iterable[str]) -> None:
    attempt = current_attempt.get()
    if attempt is not None:
        for line in lines:
            attempt.log(attempt, "info", line)
