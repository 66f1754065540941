"""Errors of an expression: in its text, or in one evaluation."""

from __future__ import annotations

MAX_SHOWN = 200


class CelSyntaxError(Exception):
    """The text is invalid. `column` counts from 1, and is 0 if unknown."""

    def __init__(self, message: str, column: int = 0, fix: str = "", code: str = "syntax") -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.fix = fix
        self.code = code


class CelError(Exception):
    """The evaluation has no value. `code` is stable; the message names types and fields, never values."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
