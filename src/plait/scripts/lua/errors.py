"""All errors of Lua scripts.

    LuaError                    422
    ├── LuaCompileError         the text is not Lua, too long, or an argument's name is not valid in Lua
    ├── LuaRuntimeError         it raised an error that it did not catch
    ├── LuaResultError          its result can't be represented in JSON
    ├── LuaLimitError           it exceeded a limit; nothing in the script can catch this
    └── LuaCrash                its worker died; other scripts are not affected

`message` is Lua's message without the place; `line` counts from 1 and is 0 if unknown; `printed` holds the lines that
the script printed before.
"""

from __future__ import annotations

import re

from plait.kernel.errors import InvalidInput

_PLACE = re.compile(r"script:(\d+): ", re.ASCII)


class LuaError(InvalidInput):
    """Anything wrong with a script: its text, its run, its result, or its limits."""

    def __init__(self, code: str, message: str, *, printed: tuple[str, ...] = ()) -> None:
        place = _PLACE.match(message)
        self.line = int(place[1]) if place else 0
        self.message = message[place.end() :] if place else message
        self.printed = printed
        what = f"line {self.line}: {self.message}" if self.line else self.message
        super().__init__(f"lua.{code}", what, fix=_FIXES.get(code, ""))


class LuaCompileError(LuaError):
    """The text is invalid."""


class LuaRuntimeError(LuaError):
    """The script raised an error, or misused a value."""


class LuaResultError(LuaError):
    """The result of the script can't be represented in JSON."""


class LuaLimitError(LuaError):
    """The script exceeded a limit."""


class LuaCrash(LuaError):
    """The worker process ended while the script was running."""


_FIXES = {
    "bad_name": "map the attribute to a name of letters, digits and _ that is no word of Lua",
    "script_too_large": "shorten the script, or split it into two steps",
    "bytecode": "give the text of the script",
    "time_limit": "do less in one script: check that every loop ends, and that no pattern has many `?`, `*` or `-`",
    "instruction_limit": "do less in one script: check that every loop ends",
    "memory_limit": "build fewer or smaller values",
    "result_too_large": "return less",
    "not_json": "return strings, numbers, booleans, tables of these, or `null`",
    "crashed": "try again; if the script does it each time, make it simpler, and report it",
}
