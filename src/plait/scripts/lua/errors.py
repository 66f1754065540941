"""Every error of Lua scripts.

    LuaError                    422
    ├── LuaCompileError         the text is not Lua, too long, or an argument's name can't be one of Lua's
    ├── LuaRuntimeError         it ran into an error that it did not catch
    ├── LuaResultError          what it returned has no form in JSON
    ├── LuaLimitError           it took more than it may; nothing in the script can catch this
    └── LuaCrash                its worker died under it; other scripts go on

`message` is what Lua said, without the place; `line` counts from 1 and is 0 where it is not known; `printed` holds the
lines that the script printed before.
"""

from __future__ import annotations

import re

from plait.kernel.errors import InvalidInput

_PLACE = re.compile(r"script:(\d+): ", re.ASCII)


class LuaError(InvalidInput):
    """Anything wrong with a script: its text, its run, its result, or what it took."""

    def __init__(self, code: str, message: str, *, printed: tuple[str, ...] = ()) -> None:
        place = _PLACE.match(message)
        self.line = int(place[1]) if place else 0
        self.message = message[place.end() :] if place else message
        self.printed = printed
        what = f"line {self.line}: {self.message}" if self.line else self.message
        super().__init__(f"lua.{code}", what, fix=_FIXES.get(code, ""))


class LuaCompileError(LuaError):
    """The text can't be run."""


class LuaRuntimeError(LuaError):
    """The script raised an error, or used a value in a way that Lua does not allow."""


class LuaResultError(LuaError):
    """The script returned what can't be kept as JSON."""


class LuaLimitError(LuaError):
    """The script took more than it may."""


class LuaCrash(LuaError):
    """The worker process ended in the middle of the script."""


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
