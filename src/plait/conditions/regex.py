"""Regular expressions that users write, matched in linear time by RE2.

Linear means: length of the text times size of the compiled pattern. That product is the cost of a match in steps.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from plait.extras import extra

MAX_PATTERN: Final = 1_000
"""Characters of a pattern."""
COMPILING: Final = 500
"""Steps charged for a pattern that comes from data: it may have to be compiled each time."""
_MAX_MEMORY: Final = 8 * 1024 * 1024
_STEP_BITS: Final = 9
"""Characters times instructions matched in one step, as a power of two."""


class BadPattern(Exception):
    """The pattern is invalid; the message says why."""


class Pattern:
    __slots__ = ("_compiled", "_size")

    def __init__(self, pattern: str) -> None:
        re2 = _re2()
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_MEMORY
        try:
            self._compiled = re2.compile(pattern, options)
        except re2.error as error:
            raise BadPattern(_reason(error)) from None
        except UnicodeEncodeError:
            raise BadPattern("it holds a lone surrogate") from None
        self._size: int = self._compiled.programsize

    def steps(self, text: str) -> int:
        """The cost of matching a text."""
        return 1 + (len(text) * self._size >> _STEP_BITS)

    def search(self, text: str) -> bool:
        return self._compiled.search(text) is not None

    def fullmatch(self, text: str) -> bool:
        return self._compiled.fullmatch(text) is not None

    def first(self, text: str) -> Any:
        """The first match: its named groups as an object, else its groups as a list, else its text; None without a
        match."""
        found = self._compiled.search(text)
        if found is None:
            return None
        return found.groupdict() or list(found.groups()) or found.group()


@lru_cache(256)
def compiled(pattern: str) -> Pattern:
    """A pattern in RE2's own syntax. Raises `BadPattern`."""
    check_length(pattern)
    return Pattern(pattern)


def check_length(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        raise BadPattern(f"it has {len(pattern):,} characters, {MAX_PATTERN:,} are allowed")


@cache
def _re2() -> Any:
    """Imported with the first pattern: without patterns it need not be installed."""
    with extra("scripts", "A regular expression"):
        import re2  # pyright: ignore[reportMissingTypeStubs]
    return re2  # pyright: ignore[reportUnknownVariableType]


def _reason(error: Exception) -> str:
    told = error.args[0] if error.args else ""
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
