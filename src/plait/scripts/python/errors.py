"""The one error of Python code in a sandbox."""

from __future__ import annotations

from typing import Literal

from plait.kernel.errors import InvalidInput

Kind = Literal["time_limit", "memory_limit", "runtime", "syntax", "crashed", "unavailable"]

_FIXES: dict[Kind, str] = {
    "time_limit": "do less at once: check that every loop ends",
    "memory_limit": "build fewer or smaller values",
    "crashed": "try again; if the code does it each time, make it simpler, and report it",
    "unavailable": "install it with `pip install 'plait[scripts]'`, and see that processes may be started",
}


class PythonError(InvalidInput):
    """`message` names the type of an exception, never a value; `line` is 0 if unknown.

    `told` is the exception's own message. It may contain values: only for readers who may see the code's input.
    """

    def __init__(self, kind: Kind, message: str, line: int = 0, told: str = "") -> None:
        super().__init__(f"python.{kind}", f"line {line}: {message}" if line else message, fix=_FIXES.get(kind, ""))
        self.kind: Kind = kind
        self.message = message
        self.line = line
        self.told = told
