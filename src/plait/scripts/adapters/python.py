"""Python: its parameters are variables, the value of its last expression is its result."""

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
from plait.scripts.python import PythonError, PythonSandbox

_MAX_RESULT = 1024 * 1024
"""Bytes of a value as JSON, as in the other languages."""


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

    async def call(self, script: str, names: Sequence[str], document: Raw, seed: str) -> Any:
        value = await self._run(script, names, document)
        try:
            return values.decode(values.encode(value, max_bytes=_MAX_RESULT))
        except PlaitError as error:
            raise ScriptError(error.what, retryable=False) from None

    async def holds(self, script: str, names: Sequence[str], document: Raw, seed: str) -> bool:
        return bool(await self._run(script, names, document))

    async def _run(self, script: str, names: Sequence[str], document: Raw) -> Any:
        given = values.decode(document)
        try:
            parse(script)
            return await self._sandbox.run(script, {name: given.get(name) for name in names}, printed=_log)
        except BadCode as error:
            where = f"line {error.line}: " if error.line else ""
            raise ScriptError(f"{where}{error.message}", retryable=False) from None
        except PythonError as error:
            raise ScriptError(error.what, retryable=error.kind in ("crashed", "unavailable")) from None


def _log(text: str) -> None:
    attempt = current_attempt.get()
    if attempt is not None:
        for line in text.splitlines():
            attempt.log(attempt, "info", line)
