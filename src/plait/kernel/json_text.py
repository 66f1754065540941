"""JSON text from outside, parsed strictly: no duplicate keys, no NaN, bounded numbers and a bounded number of values.

Python's parser can check all of that, but holds the GIL until it is done, and so stops the event loop even from a
thread. Long texts are therefore scanned first, in steps so small that other threads run in between; texts that pass are
bounded, and a fast parser then reads them. Left to itself, a thread releases the GIL only every 5 ms, and an event loop
waits for that whenever it returns from the system: once a socket, not once a text. So a scanning thread should pause
now and then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from .errors import InvalidInput, TooLarge

LONG = 64 * 1024
"""Characters from which a text is long enough to be parsed in a thread."""
MAX_VALUES = 100_000
"""Most values in one text: each is encoded, checked and decoded again on the event loop."""
MAX_NUMBER = 320
"""Most characters of a number. The largest float takes 309; the cost of more digits is quadratic."""

_DIGITS = 32
"""Digits of a number that cost as much as one more value."""
_STEP = 64 * 1024
"""Characters scanned while other threads wait."""
_TURN = 250
"""Values scanned before other threads get a turn: a fraction of a millisecond."""
_TOKEN = re.compile(r'["\[\]{}]|[^ \t\n\r\[\]{},:"]++')
_PART = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)
"""Part of a string."""
_COLON = re.compile(r"[ \t\n\r]*+:")


def read(text: str, *, max_depth: int, max_values: int = MAX_VALUES, rest: Callable[[], None] | None = None) -> Any:
    """The parsed value. `rest` is called now and then, so that a thread can let others run. Raises `InvalidInput`, a
    `ValueError` that says where the text is malformed, or `RecursionError`."""
    if len(text) <= LONG:
        return _decoder.decode(text)
    _scan(text, max_depth, max_values, rest or _go_on)
    return msgspec.json.decode(text)


def _go_on() -> None:
    """The default pause: no other thread waits."""


def _scan(text: str, max_depth: int, max_values: int, rest: Callable[[], None]) -> None:
    """Raises for what the fast parser accepts. Malformed text may pass: that parser rejects it."""
    keys: list[set[str] | None] = []  # of the enclosing objects; None: a list
    count, at = 0, 0
    while at < len(text):
        token = _TOKEN.search(text, at, at + _STEP)
        if token is None:
            at += _STEP
            continue
        start, at = token.span()
        match text[start]:
            case '"':
                at = _end_of_string(text, at)
                if keys and keys[-1] is not None and _COLON.match(text, at):
                    _add(text[start:at], keys[-1])
                    continue
            case "{":
                keys.append(set())
            case "[":
                keys.append(None)
            case "}" | "]":
                if keys:
                    keys.pop()
                continue
            case _:
                at = _end_of_scalar(text, start, at)
                count += (at - start) // _DIGITS
        if len(keys) > max_depth + 1:  # the innermost may be empty
            raise RecursionError
        count += 1
        if count > max_values:
            raise _too_many(max_values)
        if count % _TURN == 0:
            rest()


def _end_of_string(text: str, at: int) -> int:
    """The position after the closing quote; `at` is the one after the opening quote."""
    while (part := _PART.match(text, at, at + _STEP)) is not None and part.end() > at:
        at = part.end()
    return at + 1


def _end_of_scalar(text: str, start: int, at: int) -> int:
    """The end of a scalar; `at` is where the search stopped, which may be too early."""
    if at - start <= MAX_NUMBER and (rest := _TOKEN.match(text, start, start + MAX_NUMBER + 1)) is not None:
        at = rest.end()
    _check_number(at - start)
    return at


def _add(quoted: str, keys: set[str]) -> None:
    try:
        key = msgspec.json.decode(quoted, type=str) if "\\" in quoted else quoted[1:-1]
    except msgspec.DecodeError:
        return  # malformed
    if key in keys:
        raise _duplicate(key)
    keys.add(key)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _duplicate(next(key for key in keys if keys.count(key) > 1))
    return result


def _integer(text: str) -> int:
    _check_number(len(text))
    return int(text)


def _float(text: str) -> float:
    _check_number(len(text))
    return float(text)


def _no_constant(name: str) -> Any:
    raise InvalidInput("value.not_encodable", f"{name} is not JSON", fix="leave it out, or send null")


def _check_number(length: int) -> None:
    if length > MAX_NUMBER:
        raise InvalidInput(
            "value.malformed",
            f"a number has {length:,} characters",
            why=f"the limit is {MAX_NUMBER:,}",
            fix="send it as a string",
        )


def _duplicate(key: str) -> InvalidInput:
    return InvalidInput("value.duplicate_key", f"the key {key!r} stands twice in one object", fix="keep one")


def _too_many(most: int) -> TooLarge:
    return TooLarge(
        "value.too_many",
        f"the JSON has more than {most:,} values",
        why="so many would stop everything else while they are read",
        fix="send them in parts, as one string, or by reference",
    )


_decoder = json.JSONDecoder(
    object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_int=_integer, parse_float=_float
)
