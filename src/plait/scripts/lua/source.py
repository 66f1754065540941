"""The text that is compiled for a script: each argument a `local` before it.

They stand on its first line, so that the line numbers are the author's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .errors import LuaCompileError, LuaLimitError
from .limits import MAX_TEXT

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_WORD = re.compile(
    "and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return|then|true|until|while"
)


def in_order(names: Iterable[str]) -> list[str]:
    """The names of the arguments as they are bound: sorted, each once, all of them names that Lua can have."""
    ordered = sorted(set(names))
    for name in ordered:
        if _WORD.fullmatch(name) or not _NAME.fullmatch(name):
            raise LuaCompileError("bad_name", f"Lua can't have a variable with the name {name!r}")
    return ordered


def wrapped(script: str, names: list[str]) -> str:
    """The whole text. It has no end of its own, so a comment in the last line is harmless."""
    if len(script) > MAX_TEXT or len(script.encode(errors="replace")) > MAX_TEXT:
        raise LuaLimitError("script_too_large", f"the script has more than {MAX_TEXT:,} bytes")
    if script.startswith("\x1b"):
        raise LuaCompileError("bytecode", "this is compiled Lua code")
    return f"local {', '.join(names)} = ...; {script}" if names else script
