"""Compiles texts in a state of its own, in which no script ever runs, and caches the code of recent ones."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from lupa.lua54 import LuaRuntime

MAX_SCRIPTS = 1024
MAX_BYTES = 16 * 1024 * 1024
_MEMORY = 64 * 1024 * 1024


_LOAD = """
local dump, load = string.dump, load
return function(text, name)
  local compiled, problem = load(text, name, "t")
  return compiled and dump(compiled), problem
end
"""


class NotLua(Exception):
    """The text can't be compiled; the message says where and why."""


class Compiler:
    """Compiles text to Lua bytecode, with a cache. Only bytecode that it made itself is ever loaded."""

    def __init__(self) -> None:
        self._lua = new_runtime(_MEMORY)
        self._load = self._lua.execute(_LOAD)
        self._codes: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._codes)

    def compile(self, text: str, name: str = "script") -> bytes:
        """Accepts text only, never bytecode. Executes none of it."""
        code = self._codes.get(text)
        if code is None:
            code, problem = self._load(text.encode(), f"={name}".encode())
            if code is None:
                raise NotLua(problem.decode(errors="replace"))
            self._keep(text, code)
        else:
            self._codes.move_to_end(text)
        return code

    def _keep(self, text: str, code: bytes) -> None:
        self._codes[text] = code
        self._bytes += len(code)
        while len(self._codes) > MAX_SCRIPTS or self._bytes > MAX_BYTES:
            _, oldest = self._codes.popitem(last=False)
            self._bytes -= len(oldest)


def new_runtime(memory: int) -> Any:
    """A state with strings as bytes; `prelude.lua` removes the remaining access to Python."""
    runtime: Any = LuaRuntime  # its type stubs lack half of its arguments
    return runtime(
        encoding=None,
        source_encoding="utf-8",
        attribute_filter=_refuse,
        register_eval=False,
        register_builtins=False,
        unpack_returned_tuples=False,
        max_memory=memory,
    )


def _refuse(_object: object, _name: object, _setting: bool) -> str:
    raise AttributeError("not accessible")
