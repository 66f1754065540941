"""A Lua state for one script: fresh globals, fresh library tables, its own memory. Used once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .arguments import plain
from .compiler import Compiler, new_runtime

_HERE = Path(__file__).parent
_UNLIMITED = 0


class OutOfMemory(Exception):
    """The arguments alone exceed the script's memory limit."""


class States:
    """Creates states. Their common prelude is read and compiled once."""

    def __init__(self, compiler: Compiler) -> None:
        self._encode, self._prelude = (
            compiler.compile((_HERE / f"{name}.lua").read_text(), name) for name in ("encode", "prelude")
        )

    def new(self) -> State:
        lua = new_runtime(_UNLIMITED)
        encode = lua.compile(self._encode, mode="b")()
        return State(lua, lua.compile(self._prelude, mode="b")(encode))


class State:
    """Runs one script."""

    def __init__(self, lua: Any, start: Any) -> None:
        self._lua = lua
        self._start = start

    def run(self, code: bytes, request: dict[str, Any]) -> tuple[str, bytes]:
        """The outcome (`value`, `error`, `result`, `too_large`), and the JSON or the message."""
        lua = self._lua
        arguments = lua.table_from([plain(value) for value in request["arguments"]], recursive=True)
        script = lua.compile(code, mode="b")
        self._limit(request["memory"])
        kind, text = self._start(
            script,
            arguments,
            len(request["arguments"]),
            request["seed"][0],
            request["seed"][1],
            request["instructions"],
            request["lines"],
            request["printed"],
            request["result"],
        )
        return kind.decode(), text

    def _limit(self, memory: int) -> None:
        """From here on allocations count. Earlier, `lupa` would end the process if one failed."""
        if self._lua.get_memory_used() > memory:
            raise OutOfMemory
        self._lua.set_max_memory(memory)
