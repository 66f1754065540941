"""Runs Lua scripts in killable processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from plait.kernel.values import Json, encode
from plait.scripts.processes import Died, OutOfTime, Pool, Program
from plait.scripts.processes.pool import MAX_WORKERS

from .answer import value_of
from .errors import LuaCrash, LuaLimitError
from .limits import DEFAULT, LuaLimits
from .outcome import LuaOutcome
from .request import Request, to_compile, to_run

PROGRAM: Final = Program("Lua", "lua", Path(__file__).parent, "lupa")


class LuaPool:
    """Runs scripts for one event loop. Costs nothing until the first one; `stop` leaves no process behind."""

    def __init__(self, size: int = MAX_WORKERS) -> None:
        self._pool = Pool(PROGRAM, size)

    async def __aenter__(self) -> LuaPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def run(
        self,
        script: str,
        arguments: Mapping[str, Json],
        names: Iterable[str],
        token: str,
        limits: LuaLimits = DEFAULT,
    ) -> LuaOutcome:
        """Runs a script with its arguments; `token` determines its random numbers. Raises a `LuaError` if it fails."""
        return await self._ask(to_run(script, arguments, names, token, limits, result=limits.result))

    async def holds(
        self,
        script: str,
        arguments: Mapping[str, Json],
        names: Iterable[str],
        token: str,
        limits: LuaLimits = DEFAULT,
    ) -> LuaOutcome:
        """Runs a script as a predicate: nil and false are false, everything else is true, including `null`."""
        return await self._ask(to_run(script, arguments, names, token, limits, result=0))

    async def compile(self, script: str, names: Iterable[str]) -> None:
        """Raises a `LuaCompileError` if the script is invalid. Executes none of it."""
        await self._ask(to_compile(script, names))

    async def stop(self) -> None:
        """Kills all workers, whatever they are doing, and waits until they are gone."""
        await self._pool.stop()

    @property
    def pids(self) -> frozenset[int]:
        """The processes that are running now."""
        return self._pool.pids

    async def _ask(self, request: Request) -> LuaOutcome:
        try:
            answer = await self._pool.ask(encode(request), request.seconds)
        except OutOfTime as error:
            late = f"it ran longer than {request.seconds:g} s"
            raise LuaLimitError("time_limit", late, printed=error.printed) from None
        except Died as error:
            raise LuaCrash("crashed", str(error), printed=error.printed) from None
        return LuaOutcome(value_of(answer), answer.printed)
