"""Scripts between braces: Python up to the matching brace; its strings and comments may contain braces."""

from __future__ import annotations

import re
import textwrap

_NEXT = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<triple>(?P<quotes>\"\"\"|''')(?:[^\\]|\\.)*?(?P=quotes))
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<brace>[{}])
    """,
    re.VERBOSE | re.DOTALL,
)


def closing_brace(text: str, opened: int) -> int | None:
    """The offset of the brace that closes the one at `opened`, or None."""
    depth = 0
    for found in _NEXT.finditer(text, opened):
        if found.lastgroup != "brace":
            continue
        depth += 1 if found.group() == "{" else -1
        if depth == 0:
            return found.start()
    return None


def code_between(text: str) -> str:
    """The code without one line break at each end, and without the indentation that all lines share."""
    first, has_break, rest = text.partition("\n")
    if has_break and not first.strip():
        text = rest
    head, has_break, last = text.rpartition("\n")
    if has_break and not last.strip():
        text = head
    return textwrap.dedent(text)
