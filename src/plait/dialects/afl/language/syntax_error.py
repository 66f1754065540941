"""A syntax error; the parser notes it and continues with the next declaration."""

from __future__ import annotations

PARSE_ERROR = "PARSE_ERROR"


class AflSyntaxError(Exception):
    """Raised inside the parser only."""

    def __init__(self, span: tuple[int, int], message: str, hint: str = "", code: str = PARSE_ERROR) -> None:
        super().__init__(message)
        self.span = span
        self.message = message
        self.hint = hint
        self.code = code
