"""Handles requests: compiles or runs a script, and reports the outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lupa.lua54 import LuaError, LuaMemoryError

from .compiler import Compiler, NotLua
from .state import OutOfMemory, State, States

_SHOWN = 4000
"""Bytes of a message; a script can raise a very long one."""


class Interpreter:
    """Answers requests, each in its own state. Lua itself writes printed lines to the pipe."""

    def __init__(self, printed: Callable[[bytes], None]) -> None:
        self._compiler = Compiler()
        self._states = States(self._compiler)
        self._state = self._states.new()

    def prepare(self) -> None:
        self._state = self._states.new()

    def answer(self, request: dict[str, Any]) -> tuple[bytes, bytes]:
        return _answer(self._compiler, self._state, request)


def _answer(compiler: Compiler, state: State, request: dict[str, Any]) -> tuple[bytes, bytes]:
    try:
        code = compiler.compile(request["source"])
        if request["op"] == "compile":
            return b"V", b"true"
        kind, body = state.run(code, request)
    except NotLua as error:
        return _error("compile", str(error)[:_SHOWN])
    except (LuaMemoryError, MemoryError, OutOfMemory):
        return _error("memory", "not enough memory")
    except (LuaError, TypeError, ValueError, OverflowError) as error:
        return _error("error", str(error))
    if kind == "value":
        return b"V", body
    return _error(kind, body[:_SHOWN].decode(errors="replace"))


def _error(kind: str, message: str) -> tuple[bytes, bytes]:
    if message == "not enough memory":
        kind = "memory"
    return b"E", json.dumps({"kind": kind, "message": message}).encode()
