"""All errors of Ale, and their place in the text.

    AleError                    422
    ├── AleSyntaxError          the text can't be parsed
    ├── AleCompileError         it parses, but can't run: an unknown name, a malformed form
    ├── AleRuntimeError         it ran into an error; `try` in the script can catch it
    └── AleLimitError           it exceeded a limit; nothing in the script can catch this

`message` is the text that a `catch` in the script receives; `line` and `column` count from 1, and are 0 if unknown.
"""

from __future__ import annotations

from plait.kernel.errors import InvalidInput

Place = tuple[int, int]
"""Line and column, counted from 1."""

NOWHERE: Place = (0, 0)
_SHOWN = 1000
"""Characters of a message shown by `what`; a script can raise a very long one."""


class AleError(InvalidInput):
    """Anything wrong with a script: its text, its run, or its limits."""

    def __init__(self, code: str, message: str, place: Place = NOWHERE) -> None:
        what = message if len(message) <= _SHOWN else f"{message[:_SHOWN]}..."
        super().__init__(f"ale.{code}", what, fix=_FIXES.get(code, ""))
        self.message = message
        self.line, self.column = place
        if place != NOWHERE:
            self.place(place)

    def place(self, place: Place) -> None:
        """Sets where it happened; the innermost place, which is set first, stays."""
        if not self.why:
            self.line, self.column = place
            self.why = f"line {self.line}, column {self.column}"


class AleSyntaxError(AleError):
    """The text can't be parsed."""


class AleCompileError(AleError):
    """The text parses, but has no meaning."""


class AleRuntimeError(AleError):
    """The script raised an error, or misused a value."""


class AleLimitError(AleError):
    """The script exceeded a limit."""


_FIXES = {
    "unknown_name": "use a parameter, a local or a core function; check the spelling",
    "reserved_name": "choose another name",
    "name_bound": "give each name once",
    "bad_parameter": "rename it, or map it to a plain name",
    "script_too_large": "shorten the script, or split it into two steps",
    "step_limit": "do less in one script: check that every loop ends, and take less of a sequence",
    "time_limit": "do less in one script",
    "depth_limit": "make the last call of the function the recursive one, or use `reduce`",
    "memory_limit": "build fewer or smaller values",
    "value_too_large": "build smaller values",
    "number_too_large": "use smaller numbers, or floats",
    "result_too_large": "return less",
    "not_json": "return plain data: convert it with `str`, `seq->vector` or `seq->object`",
}
