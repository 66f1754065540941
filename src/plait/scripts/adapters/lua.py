"""Lua: `nil` and `false` are false; `print` writes to the task's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.kernel.task import current_attempt
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.lua import LuaCrash, LuaError, LuaLimits, LuaOutcome, LuaPool
from plait.scripts.lua.limits import DEFAULT

from .lua_names import unknown_name


class Lua:
    def __init__(self) -> None:
        self._pool = LuaPool()

    async def close(self) -> None:
        await self._pool.stop()

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            await self._pool.compile(script, names)
        except LuaError as error:
            raise CompileError(error.message, error.line, error.fix) from None
        if (unknown := unknown_name(script, names)) is not None:
            name, line = unknown
            raise CompileError(f"unknown name '{name}'", line)

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        try:
            return _logged(await self._pool.run(script, values.decode(document), names, seed, _limits(timeout)))
        except LuaError as error:
            raise _failure(error) from None

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        try:
            return _logged(await self._pool.holds(script, values.decode(document), names, seed, _limits(timeout)))
        except LuaError as error:
            raise _failure(error) from None


def _limits(timeout: float | None) -> LuaLimits:
    return DEFAULT if timeout is None else LuaLimits(seconds=timeout)


def _logged(outcome: LuaOutcome) -> Any:
    _log(outcome.printed)
    return outcome.value


def _failure(error: LuaError) -> ScriptError:
    _log(error.printed)
    # A worker may have died because of another script, so a crash is retryable; all other errors are deterministic.
    return ScriptError(error.what, retryable=isinstance(error, LuaCrash))


def _log(lines: Iterable[str]) -> None:
    attempt = current_attempt.get()
    if attempt is not None:
        for line in lines:
            attempt.log(attempt, "info", line)
