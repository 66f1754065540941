"""The functions that expressions may call, by name and number of arguments. Names of methods start with a dot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from plait.conditions import regex

from . import numbers
from .errors import CelError, CelSyntaxError
from .evaluation import Run, Value
from .operators import contains, kind_of, mismatch
from .syntax import Literally, Node

Function = Callable[..., Any]
"""Takes the values of its arguments and the run."""

_SEARCH_BITS: Final = 6


def size(value: Any, run: Run) -> int:
    if isinstance(value, str | list | dict):
        return len(value)  # pyright: ignore[reportUnknownArgumentType]
    raise mismatch("`size`", value)


def string(value: Any, run: Run) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return numbers.text_of(value)
        case _:
            raise mismatch("`string`", value)


def integer(value: Any, run: Run) -> int:
    return numbers.truncated(double(value, run, "`int`"))


def double(value: Any, run: Run, name: str = "`double`") -> int | float:
    match value:
        case str():
            return numbers.parsed(value)
        case int() | float() if not isinstance(value, bool):
            return value
        case _:
            raise mismatch(name, value)


def boolean(value: Any, run: Run) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise CelError("type_mismatch", f"`bool` takes `true`, `false` or a string of these, and got {kind_of(value)}")


def _of_texts(name: str, test: Callable[[str, str], bool]) -> Function:
    def function(text: Any, part: Any, run: Run) -> bool:
        if isinstance(text, str) and isinstance(part, str):
            run.take(len(part) >> _SEARCH_BITS)
            return test(text, part)
        raise mismatch(f"`{name}`", text, part)

    return function


FUNCTIONS: Final[dict[tuple[str, int], Function]] = {
    ("size", 1): size,
    (".size", 1): size,
    ("string", 1): string,
    ("int", 1): integer,
    ("double", 1): double,
    ("bool", 1): boolean,
    (".contains", 2): contains,
    (".startsWith", 2): _of_texts("startsWith", str.startswith),
    (".endsWith", 2): _of_texts("endsWith", str.endswith),
}
MATCHES: Final = frozenset({("matches", 2), (".matches", 2)})
_MACROS: Final = ("all", "exists", "exists_one", "filter", "has", "map")
KNOWN: Final = sorted({*_MACROS, *(name.lstrip(".") for name, _ in (*FUNCTIONS, *MATCHES))})


def matching(pattern: Node, text: Value, value: Value) -> Value:
    """`matches`: whether a part of the text matches the pattern. A literal pattern is checked at compile time."""
    known: regex.Pattern | None = None
    if isinstance(pattern, Literally) and isinstance(pattern.value, str):
        try:
            known = regex.compiled(pattern.value)
        except regex.BadPattern as error:
            raise CelSyntaxError(f"this is not a regular expression: {error}", pattern.at + 1) from None

    def test(run: Run) -> bool:
        found, wanted = text(run), value(run)
        if not isinstance(found, str) or not isinstance(wanted, str):
            raise mismatch("`matches`", found, wanted)
        try:
            compiled = known or _compiled(wanted, run)
        except regex.BadPattern as error:
            raise CelError("type_mismatch", f"`matches` needs a regular expression: {error}") from None
        run.take(compiled.steps(found))
        return compiled.search(found)

    return test


def _compiled(pattern: str, run: Run) -> regex.Pattern:
    run.take(regex.COMPILING)
    return regex.compiled(pattern)
