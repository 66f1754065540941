"""Lua for a simulation: the real sandbox, asked without giving up the event loop.

The engine's own pool answers in real time, and a simulation knows only virtual time: whatever it waits for must happen
at the moment in which it is asked, or two simulations of one seed would differ.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Raw

from plait.kernel import values
from plait.scripts.errors import CompileError, ScriptError
from plait.scripts.lua.answer import value_of
from plait.scripts.lua.errors import LuaError
from plait.scripts.lua.limits import DEFAULT
from plait.scripts.lua.process import Process
from plait.scripts.lua.request import Request, to_compile, to_run

_PRINTED = ord("P")


class InstantLua:
    """One sandbox for all engines of this process; what a script leaves behind, the next one does not see."""

    def __init__(self) -> None:
        self._process = Process()
        self._process.pipe.setblocking(True)
        self._answer()  # its greeting

    async def check(self, script: str, names: Sequence[str]) -> None:
        try:
            self._ask(to_compile(script, names))
        except LuaError as error:
            raise CompileError(error.message, error.line, error.fix) from None

    async def call(self, script: str, names: Sequence[str], document: Raw, seed: str) -> Any:
        return self._run(script, names, document, seed, DEFAULT.result)

    async def holds(self, script: str, names: Sequence[str], document: Raw, seed: str) -> bool:
        return self._run(script, names, document, seed, 0)

    def _run(self, script: str, names: Sequence[str], document: Raw, seed: str, result: int) -> Any:
        try:
            return self._ask(to_run(script, values.decode(document), names, seed, DEFAULT, result=result))
        except LuaError as error:
            raise ScriptError(error.what, retryable=False) from None

    def _ask(self, request: Request) -> Any:
        self._process.pipe.sendall(request.frame())
        return value_of(self._answer())

    def _answer(self) -> bytes:
        while True:
            frame = _read(self._process.pipe, int.from_bytes(_read(self._process.pipe, 4), "big"))
            if frame[0] != _PRINTED:
                return frame


def _read(pipe: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = pipe.recv(count - len(found))
        if not part:
            raise RuntimeError("the Lua sandbox of the simulation is gone")
        found += part
    return found


@cache
def instant_lua() -> InstantLua:
    """Started when the first engine is furnished; it ends with this process."""
    return InstantLua()
