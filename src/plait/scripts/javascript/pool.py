"""Runs JavaScript in killable processes."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Raw

from plait.kernel.values import Json
from plait.scripts.processes import Died, OutOfTime, Pool, Program
from plait.scripts.processes.pool import MAX_WORKERS

from .answer import value_of
from .errors import JavaScriptCrash, JavaScriptError
from .limits import DEFAULT, MAX_TEXT, JavaScriptLimits

PROGRAM: Final = Program("JavaScript", "javascript", Path(__file__).parent, "_quickjs")
_NOTHING: Final = Raw(b"null")
_encode = msgspec.json.Encoder().encode


class JavaScriptOutcome(NamedTuple):
    """The value that a script returned, and the lines that it printed."""

    value: Json
    printed: tuple[str, ...]


class JavaScriptPool:
    """Runs scripts for one event loop. Costs nothing until the first one; `stop` leaves no process behind."""

    def __init__(self, size: int = MAX_WORKERS) -> None:
        self._pool = Pool(PROGRAM, size)

    async def __aenter__(self) -> JavaScriptPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def run(self, script: str, document: Raw, limits: JavaScriptLimits = DEFAULT) -> JavaScriptOutcome:
        """Calls the default export with the document. Raises a `JavaScriptError` if it fails."""
        return await self._ask("run", script, document, limits)

    async def holds(self, script: str, document: Raw, limits: JavaScriptLimits = DEFAULT) -> JavaScriptOutcome:
        """The same; the value is whether the result is truthy."""
        return await self._ask("holds", script, document, limits)

    async def compile(self, script: str) -> None:
        """Raises a `JavaScriptError` if the script is invalid. Executes none of it."""
        await self._ask("compile", script, _NOTHING, DEFAULT)

    async def stop(self) -> None:
        """Kills all workers, whatever they are doing, and waits until they are gone."""
        await self._pool.stop()

    @property
    def pids(self) -> frozenset[int]:
        """The processes that are running now."""
        return self._pool.pids

    async def _ask(self, op: Op, script: str, document: Raw, limits: JavaScriptLimits) -> JavaScriptOutcome:
        try:
            answer = await self._pool.ask(request_of(op, script, document, limits), limits.seconds)
        except OutOfTime as error:
            late = f"Code interrupted after {limits.seconds * 1000:.0f} ms"
            raise JavaScriptError("code_timeout", late, printed=error.printed) from None
        except Died as error:
            raise JavaScriptCrash("code_crashed", str(error), printed=error.printed) from None
        return JavaScriptOutcome(value_of(answer, document), answer.printed)


Op = Literal["run", "holds", "compile"]


class _Request(msgspec.Struct, frozen=True):
    op: Op
    source: str
    input: str
    """JSON as text: the process passes it on without parsing it."""
    seconds: float
    memory: int
    stack: int
    result: int
    lines: int
    printed: int


def request_of(op: Op, script: str, document: Raw, limits: JavaScriptLimits) -> bytes:
    if len(script) > MAX_TEXT or len(script.encode(errors="replace")) > MAX_TEXT:
        raise JavaScriptError(
            "code_syntax", f"the script has more than {MAX_TEXT >> 10} KB", fix="split it into two steps"
        )
    if "\0" in script:
        raise JavaScriptError(
            "code_syntax", "the script has a NUL character", script[: script.index("\0")].count("\n") + 1
        )
    return _encode(
        _Request(
            op=op,
            source=script,
            input=bytes(document).decode(),
            seconds=limits.seconds,
            memory=limits.memory,
            stack=limits.stack,
            result=limits.result,
            lines=limits.lines,
            printed=limits.printed,
        )
    )
