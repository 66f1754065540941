"""The text compiled for a script, with a `local` declaration for each argument.

The declarations are on the script's first line, so that line numbers are the author's.
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
    """The argument names in the order in which they are bound: sorted, without duplicates, all valid in Lua."""
    ordered = sorted(set(names))
    for name in ordered:
        if _WORD.fullmatch(name) or not _NAME.fullmatch(name):
            raise LuaCompileError("bad_name", f"Lua can't have a variable with the name {name!r}")
    return ordered


def wrapped(script: str, names: list[str]) -> str:
    """The whole text. Nothing follows the script, so a comment in its last line is harmless."""
    if len(script) > MAX_TEXT or len(script.encode(errors="replace")) > MAX_TEXT:
        raise LuaLimitError("script_too_large", f"the script has more than {MAX_TEXT:,} bytes")
    if script.startswith("\x1b"):
        raise LuaCompileError("bytecode", "this is compiled Lua code")
    return f"local {', '.join(names)} = ...; {script}" if names else script
