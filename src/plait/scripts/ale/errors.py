"""Every error of Ale, and where in the text it belongs.

    AleError                    422
    ├── AleSyntaxError          the text can't be read
    ├── AleCompileError         it can be read, but not run: an unknown name, a malformed form
    ├── AleRuntimeError         it ran into an error; `try` in the script can catch it
    └── AleLimitError           it took more than it may; nothing in the script can catch this

`message` is the text of the language, the one a `catch` gets; `line` and `column` count from 1, and are 0
where there is no place.
"""

from __future__ import annotations

from plait.kernel.errors import InvalidInput

Place = tuple[int, int]
"""Line and column, counted from 1."""

NOWHERE: Place = (0, 0)
_SHOWN = 1000
"""Characters of a message that `what` shows; a script can raise a very long one."""


class AleError(InvalidInput):
    """Anything wrong with a script: its text, its run, or what it took."""

    def __init__(self, code: str, message: str, place: Place = NOWHERE) -> None:
        what = message if len(message) <= _SHOWN else f"{message[:_SHOWN]}..."
        super().__init__(f"ale.{code}", what, fix=_FIXES.get(code, ""))
        self.message = message
        self.line, self.column = place
        if place != NOWHERE:
            self.place(place)

    def place(self, place: Place) -> None:
        """Says where it happened; the innermost place, told first, stays."""
        if not self.why:
            self.line, self.column = place
            self.why = f"line {self.line}, column {self.column}"


class AleSyntaxError(AleError):
    """The text can't be read."""


class AleCompileError(AleError):
    """The text can be read, but has no meaning."""


class AleRuntimeError(AleError):
    """The script raised, or used a value in a way that it does not allow."""


class AleLimitError(AleError):
    """The script took more than it may."""


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
