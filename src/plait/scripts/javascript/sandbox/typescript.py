"""Removes types with a program that is itself JavaScript, in a context of its own in which no script ever runs."""

from __future__ import annotations

import re
from pathlib import Path

from .context import NotParsed
from .quickjs import Context, JSException, StackOverflow, new_context

_BUNDLE = Path(__file__).parents[1] / "static" / "strip-types.js"
_MEMORY = 256 * 1024 * 1024
_PLACE = re.compile(r" ?\((\d+):(\d+)\)$")


class TypeStripper:
    """Its program is read immediately, and evaluated when the first script needs it."""

    def __init__(self) -> None:
        self._program = _BUNDLE.read_text() if _BUNDLE.is_file() else ""
        self._context: Context | None = None

    @property
    def missing(self) -> bool:
        return not self._program

    def strip(self, text: str) -> str:
        """The same lines, without types. Raises `NotParsed`."""
        if self._context is None:
            self._context = new_context()
            self._context.set_memory_limit(_MEMORY)
            self._context.eval(self._program)
        try:
            return self._context.get("stripTypes")(text)
        except JSException as error:
            self._context = None  # it may have run out of memory halfway
            raise _not_parsed(str(error)) from None
        except StackOverflow:
            raise NotParsed("it is nested too deep") from None


def _not_parsed(text: str) -> NotParsed:
    message = text.partition("\n")[0].removeprefix("SyntaxError: ").removeprefix("Error: ")
    place = _PLACE.search(message)
    if place is None:
        return NotParsed(message)
    return NotParsed(message[: place.start()], int(place[1]), int(place[2]))
