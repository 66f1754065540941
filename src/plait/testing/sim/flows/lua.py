"""Lua in a simulation: the real sandbox, answering synchronously."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.lua.answer import value_of
from plait.scripts.lua.errors import LuaError
from plait.scripts.lua.limits import DEFAULT
from plait.scripts.lua.pool import PROGRAM
from plait.scripts.lua.request import Request, to_compile, to_run
from plait.testing.sim.instant_process import InstantProcess


class InstantLua:
    """One sandbox for all engines of this process; scripts leave nothing behind for the next one."""

    def __init__(self) -> None:
        self._process = InstantProcess(PROGRAM)

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            self._ask(to_compile(script, names))
        except LuaError as error:
            raise CompileError(error.message, error.line, error.fix) from None

    async def call(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> Any:
        return self._run(script, names, document, seed, DEFAULT.result)

    async def holds(
        self, script: str, names: Sequence[str], document: Raw, seed: str, timeout: float | None = None
    ) -> bool:
        return self._run(script, names, document, seed, 0)

    def _run(self, script: str, names: Sequence[str], document: Raw, seed: str, result: int) -> Any:
        try:
            return self._ask(to_run(script, values.decode(document), names, seed, DEFAULT, result=result))
        except LuaError as error:
            raise ScriptError(error.what, retryable=False) from None

    def _ask(self, request: Request) -> Any:
        return value_of(self._process.ask(values.encode(request)))


@cache
def instant_lua() -> InstantLua:
    """Started when the first engine is furnished; ends with this process."""
    return InstantLua()
