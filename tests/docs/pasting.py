"""What the prompt of `python -m asyncio` makes of a text that is pasted into it: it reads line by line."""

from __future__ import annotations

import ast
import codeop


def paste_error(text: str) -> str:
    """What the prompt would complain about; empty if it takes every line."""
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    held: list[str] = []
    for line in (*text.splitlines(), ""):
        held.append(line)
        try:
            complete = compiler("\n".join(held), "<stdin>", "single") is not None
        except SyntaxError as error:
            return f"{error.msg}: {line!r}"
        if complete:
            held = []
    return f"never ends: {held[0]!r}" if any(held) else ""
