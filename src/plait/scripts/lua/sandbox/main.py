"""The loop of a worker: read a request, run it, answer, and have the next state ready before the next request."""

from __future__ import annotations

import json
from typing import Any

from lupa.lua54 import LuaError, LuaMemoryError

from . import frames
from .cage import Cage
from .compiler import Compiler, NotLua
from .state import OutOfMemory, State, States

_SHOWN = 4000
"""Bytes of a message; a script can raise a very long one."""


def main() -> None:
    compiler = Compiler()
    states = States(compiler)
    cage = Cage()
    state = states.new()
    frames.write(b"H")
    while (frame := frames.read()) is not None:
        request: dict[str, Any] = json.loads(frame)
        cage.begin(request["seconds"], request["memory"])
        kind, body = _answer(compiler, state, request)
        cage.end()
        frames.write(kind, body)
        state = states.new()


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
