"""All errors of JavaScript.

    JavaScriptError             422; its code says what went wrong
    └── JavaScriptCrash         its worker died; other scripts are not affected

| code | when |
|---|---|
| `code_syntax` | it does not parse, imports something, is too long, or is checked and has no default export |
| `code_no_default` | when it runs: no default export, or one that is not a function |
| `code_error` | it threw, or its promise was rejected |
| `code_never_settled` | its promise waits for something that can't come |
| `code_bad_output` | its result can't be represented in JSON, or is too large |
| `code_timeout`, `code_memory` | it exceeded a limit |
| `code_crashed` | its worker died |
"""

from __future__ import annotations

from typing import Final, Literal

from plait.kernel.errors import InvalidInput

Code = Literal[
    "code_syntax",
    "code_no_default",
    "code_error",
    "code_never_settled",
    "code_bad_output",
    "code_timeout",
    "code_memory",
    "code_crashed",
]

_FIXES: Final[dict[Code, str]] = {
    "code_no_default": "write `export default function (input) { … }`",
    "code_never_settled": "resolve or reject every promise that it awaits; there are no timers and no network",
    "code_bad_output": "return strings, numbers, booleans, null, and arrays and objects of these",
    "code_timeout": "do less in one step: check that every loop ends, and that no pattern backtracks",
    "code_memory": "build fewer or smaller values",
    "code_crashed": "try again; if the script does it each time, make it simpler, and report it",
}


class JavaScriptError(InvalidInput):
    """`message` is QuickJS's message without the place; `line` counts from 1, and is 0 if unknown."""

    def __init__(
        self, code: Code, message: str, line: int = 0, *, printed: tuple[str, ...] = (), fix: str = ""
    ) -> None:
        super().__init__(code, f"line {line}: {message}" if line else message, fix=fix or _FIXES.get(code, ""))
        self.message = message
        self.line = line
        self.printed = printed


class JavaScriptCrash(JavaScriptError):
    """The worker process ended while the script was running."""
