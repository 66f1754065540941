"""Parses expressions with the parser of `cel-expr-python`.

`$` outside of literals and comments stands for `output`. Positions in messages refer to the original text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate

from cel_expr_python import cel  # pyright: ignore[reportMissingTypeStubs]

from .errors import CelSyntaxError
from .syntax import Node
from .wire import tree_of

_OUTPUT = "output"
_PARTS = re.compile(
    r"""
    (?:[rR][bB]?|[bB][rR])(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\n]*"|'[^'\n]*')
  | \"{3}(?:\\.|.)*?\"{3} | '{3}(?:\\.|.)*?'{3} | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
  | //[^\n]* | `[^`\n]*`
  | (?P<root>(?<![\w$])\$(?![\w$]))
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_REPORT = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_UNEXPECTED = re.compile(r"(?:mismatched|extraneous) input '(.*)' expecting|no viable alternative at input '(.*)'")
_TOO_DEEP = "recursion"


def read(text: str) -> Node:
    """Raises a `CelSyntaxError` that says where and why."""
    rewritten, roots = _rewritten(text)
    try:
        parsed = _environment().compile(rewritten, disable_check=True).serialize()
    except UnicodeEncodeError:
        raise CelSyntaxError("it holds a lone surrogate") from None
    except RuntimeError as error:
        raise _refusal(str(error), text, rewritten, roots) from None
    return tree_of(parsed, lambda at: _original(at, roots))


@lru_cache(1)
def _environment() -> cel.Env:
    return cel.NewEnv()


def _rewritten(text: str) -> tuple[str, list[int]]:
    """The text with names in place of roots, and the positions of these in it."""
    roots = [match.start() for match in _PARTS.finditer(text) if match["root"]]
    if not roots:
        return text, []
    parts = [text[start:end] for start, end in zip([0, *(at + 1 for at in roots)], [*roots, len(text)], strict=True)]
    longer = len(_OUTPUT) - 1
    return _OUTPUT.join(parts), [at + longer * count for count, at in enumerate(roots)]


def _refusal(report: str, text: str, rewritten: str, roots: list[int]) -> CelSyntaxError:
    found = _REPORT.search(report)
    if found is None or _TOO_DEEP in report:
        return CelSyntaxError("it is nested too deeply", fix="split it with a composite condition", code="too_big")
    at = _original(_offset(rewritten, int(found[1]), int(found[2])), roots)
    return CelSyntaxError(_reason(found[3].strip()), min(at + 1, max(len(text), 1)))


def _original(at: int, roots: list[int]) -> int:
    """Maps a position in the rewritten text to the original text."""
    return at - sum(min(len(_OUTPUT) - 1, at - root) for root in roots if root < at)


def _offset(text: str, line: int, column: int) -> int:
    starts = [0, *accumulate(len(each) for each in text.splitlines(keepends=True))]
    return starts[min(line, len(starts)) - 1] + column - 1


def _reason(message: str) -> str:
    unexpected = _UNEXPECTED.search(message)
    if unexpected is None:
        return message.removeprefix("Syntax error: ")
    token = unexpected[1] or unexpected[2]
    return "it ends early" if token == "<EOF>" else f"unexpected `{token}`"
