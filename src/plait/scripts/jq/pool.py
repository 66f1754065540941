"""Runs jq queries in killable processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.scripts.processes import Died, OutOfTime, Pool, Program

from .errors import JqError

PROGRAM: Final = Program("jq", "jq", Path(__file__).parent, "jq")
SECONDS: Final = 1.0
MEMORY: Final = 256 * 1024 * 1024
MAX_RESULT: Final = 10 * 1024 * 1024
"""Bytes of all results as JSON."""
_SIZE: Final = 4
"""Concurrent processes: a query takes a second at most."""
_VALUE: Final = b"V"


class _Request(msgspec.Struct, frozen=True):
    op: Literal["run", "compile"]
    query: str
    document: str = "null"
    seconds: float = SECONDS
    memory: int = MEMORY
    result: int = MAX_RESULT


class _Problem(msgspec.Struct, frozen=True):
    kind: Literal["syntax", "runtime", "too_large"]
    message: str


class JqPool:
    """Serves one event loop. Costs nothing until the first query; `stop` leaves no process behind."""

    def __init__(self, size: int = _SIZE) -> None:
        self._pool = Pool(PROGRAM, size)

    async def check(self, query: str) -> None:
        """Raises `JqError` if the query is invalid. Executes none of it."""
        await self._ask(_Request("compile", query))

    async def run(self, query: str, data: Any) -> list[Any]:
        """All results of a query. Raises `JqError`."""
        return await self._ask(_Request("run", query, values.plain(data).decode()))

    async def stop(self) -> None:
        """Kills all workers, whatever they are doing, and waits until they are gone."""
        await self._pool.stop()

    async def _ask(self, request: _Request) -> Any:
        try:
            answer = await self._pool.ask(msgspec.json.encode(request), request.seconds)
        except OutOfTime:
            raise JqError("time_limit", f"the query ran longer than {SECONDS:g} s") from None
        except Died as error:
            raise JqError("crashed", str(error)) from None
        try:
            if answer.kind == _VALUE:
                return values.parse(answer.body)
            problem = msgspec.json.decode(answer.body, type=_Problem)
        except PlaitError as error:  # a text with NUL, or nested too deeply
            raise JqError("runtime", f"a result can't be kept: {error.why or error.what}") from None
        except (msgspec.DecodeError, RecursionError) as error:
            raise JqError("crashed", f"the answer can't be read: {error}") from None
        raise JqError(problem.kind, problem.message.replace("\0", "\ufffd"))
