"""Compiles and runs queries without access to the outside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jq as _untyped

jq: Any = _untyped
_BEFORE = 'def env: {}; def now: error("`now` is not available: a query must give the same each time"); {} as $ENV |\n'
"""Put on a line of its own before the query: no environment and no clock; and modules can only be imported at the
start."""
_PLACE = re.compile(r" at <top-level>, line (\d+), column (\d+):.*", re.DOTALL)
_PREFIX = "jq: error: "
_SHOWN = 1000
"""Characters of a message; a query can raise a very long one."""


class Interpreter:
    def __init__(self, printed: Callable[[bytes], None]) -> None:
        jq.compile(".").input_text("null").first()  # loads what it needs before the cage closes

    def prepare(self) -> None:
        """No state is kept between queries."""

    def answer(self, request: dict[str, Any]) -> tuple[bytes, bytes]:
        try:
            query = jq.compile(_BEFORE + request["query"])
        except (ValueError, MemoryError) as error:
            return _problem("syntax", _placed(str(error)))
        if request["op"] == "compile":
            return b"V", b"null"
        try:
            return _results(query.input_text(request["document"]), request["result"])
        except MemoryError:
            return _problem("too_large", "the query takes too much memory")
        except (ValueError, UnicodeError, RecursionError) as error:
            return _problem("runtime", str(error))


def _results(results: Any, most: int) -> tuple[bytes, bytes]:
    written: list[str] = []
    for value in results:
        written.append(json.dumps(value, separators=(",", ":"), allow_nan=False))
        most -= len(written[-1]) + 1
        if most < 0:
            return _problem("too_large", "its results are too large")
    return b"V", f"[{','.join(written)}]".encode()


def _placed(message: str) -> str:
    """The message with its position relative to the query, without the text put before it."""
    found = _PLACE.search(message)
    told = message.removeprefix(_PREFIX)
    if found is None:
        return told
    return f"line {int(found[1]) - 1}, column {found[2]}: {_PLACE.sub('', told)}"


def _problem(kind: str, message: str) -> tuple[bytes, bytes]:
    return b"E", json.dumps({"kind": kind, "message": message[:_SHOWN]}).encode()
