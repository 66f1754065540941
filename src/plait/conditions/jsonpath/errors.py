"""Every error of JSONPath.

    JsonPathError               422
    ├── JsonPathSyntaxError     the text is not a valid query
    ├── JsonPathBudget          its evaluation needed more steps than allowed
    └── JsonPathTimeout         its evaluation took longer than allowed

`message` is the reason alone; `line` and `column` count from 1, and are 0 if unknown.
"""

from __future__ import annotations

from plait.kernel.errors import InvalidInput


class JsonPathError(InvalidInput):
    """Anything wrong with a query: its text, or its limits."""

    def __init__(self, code: str, message: str, *, fix: str = "", line: int = 0, column: int = 0) -> None:
        where = f"line {line}, column {column}" if line else ""
        super().__init__(f"condition.{code}", message, why=where, fix=fix)
        self.message = message
        self.line = line
        self.column = column


class JsonPathSyntaxError(JsonPathError):
    """The text is not a valid query."""

    @classmethod
    def at(cls, text: str, index: int, message: str, fix: str = "") -> JsonPathSyntaxError:
        """An error at a position in the text."""
        before = text[: max(index, 0)]
        line = before.count("\n") + 1
        return cls("syntax", message, fix=fix, line=line, column=len(before) - before.rfind("\n"))


class JsonPathBudget(JsonPathError):
    """The evaluation needed more steps than allowed."""

    def __init__(self) -> None:
        super().__init__("budget", "the query takes too many steps", fix="ask for less: avoid `..` in filters")


class JsonPathTimeout(JsonPathError):
    """The evaluation took longer than allowed, within its limit of steps."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            "time_limit", f"the query takes longer than {seconds:g} s", fix="ask for less: avoid `..` in filters"
        )
