"""Python: the parameters are variables, and the value of the last expression is the result."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from plait.conditions.python_code import BadCode, parse, unknown_name
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.task import current_attempt
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.python import PythonError, PythonLimits, PythonSandbox
from plait.scripts.python.limits import DEFAULT

_MAX_RESULT = 1024 * 1024
"""Bytes of a value as JSON, as in the other languages."""
_MAX_PRINTED = 64 * 1024
"""Characters; the rest is dropped."""
_MAX_LINES = 1000


class Python:
    def __init__(self, sandbox: PythonSandbox) -> None:
        self._sandbox = sandbox

    async def check(self, script: str, names: Sequence[str]) -> None:
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                raise CompileError(f"Python can't have the name '{name}'", fix="map the attribute to a plain name")
        try:
            unknown = unknown_name(parse(script), names)
        except BadCode as error:
            raise CompileError(error.message, error.line) from None
        if unknown is not None:
            raise CompileError(f"unknown name '{unknown[0]}'", unknown[1])

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        value = await self._run(script, names, document, timeout)
        try:
            return values.decode(values.encode(value, max_bytes=_MAX_RESULT))
        except PlaitError as error:
            raise ScriptError(error.what, retryable=False) from None

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        return bool(await self._run(script, names, document, timeout))

    async def _run(self, script: str, names: Sequence[str], document: Raw, timeout: float | None) -> Any:
        given, printed = values.decode(document), _Printed()
        try:
            parse(script)
            limits = DEFAULT if timeout is None else PythonLimits(seconds=timeout)
            return await self._sandbox.run(script, {name: given.get(name) for name in names}, limits, printed.take)
        except BadCode as error:
            where = f"line {error.line}: " if error.line else ""
            raise ScriptError(f"{where}{error.message}", retryable=False) from None
        except PythonError as error:
            raise ScriptError(_text(error), retryable=error.kind in ("crashed", "unavailable")) from None
        finally:
            printed.log()


def _text(error: PythonError) -> str:
    return f"line {error.line}: {error.told}" if error.told and error.line else error.what


class _Printed:
    """The output of `print`, up to a size; it comes from another thread, and is written to the task's log at the
    end."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = _MAX_PRINTED

    def take(self, text: str) -> None:
        if self._left > 0:
            self._parts.append(text[: self._left])
            self._left -= len(text)

    def log(self) -> None:
        attempt = current_attempt.get()
        if attempt is not None:
            for line in "".join(self._parts).splitlines()[:_MAX_LINES]:
                attempt.log(attempt, "info", line)
