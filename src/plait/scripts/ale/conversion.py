"""Converts values from and to plain JSON data: dict, list, str, int, float, bool, None."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from fractions import Fraction
from typing import Any, cast

from plait.kernel import values
from plait.kernel.errors import PlaitError, TooLarge

from .errors import AleLimitError, AleRuntimeError
from .kinds import Keyword, Lazy, List, Object, Set, Symbol, Value, Vector, kind, of_key, to_vector
from .limits import TOO_BIG, Limits, Meter
from .numbers import as_float
from .printer import cells, printed
from .sequences import elements

_MAX_DEPTH = values.MAX_DEPTH


def incoming(value: Any, limits: Limits, depth: int = 0) -> Value:
    """Converts a JSON value to an Ale value."""
    if type(value) is int:
        if not -TOO_BIG < value < TOO_BIG:
            raise AleLimitError("number_too_large", "number too large")
        return value
    if value is None or type(value) is bool or type(value) is float:
        return value
    if type(value) is str:
        _fits(value, limits)
        return value
    if depth > _MAX_DEPTH:
        raise AleLimitError("value_too_large", "value too large")
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        _fits(entries, limits)
        return Object({_keyword(key): incoming(item, limits, depth + 1) for key, item in entries.items()})
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        _fits(items, limits)
        return to_vector(tuple([incoming(item, limits, depth + 1) for item in items]))
    raise AleRuntimeError("not_json", f"cannot convert {type(value).__name__} from JSON")


def _fits(value: Sized, limits: Limits) -> None:
    if len(value) > limits.elements:
        raise AleLimitError("value_too_large", "value too large")


_MAX_KNOWN = 4096
_known: dict[str, Keyword] = {}


def _keyword(name: str) -> Keyword:
    """Keys recur, so recent keywords are cached."""
    keyword = _known.get(name)
    if keyword is None:
        if len(_known) >= _MAX_KNOWN:
            _known.clear()
        keyword = _known[name] = Keyword(name)
    return keyword


def outgoing(meter: Meter, value: Value) -> Any:
    """Converts an Ale value to JSON, fully realized and within the size limit of a result."""
    if value is None or type(value) is bool:
        return value
    result = _Outgoing(meter).convert(value, 0)
    try:
        values.encode(result, max_bytes=meter.limits.result)
    except TooLarge:
        raise _too_large() from None
    except PlaitError as error:
        raise AleRuntimeError("not_json", f"cannot convert {kind(value)} to JSON: {error.why}") from None
    return result


def _too_large() -> AleLimitError:
    return AleLimitError("result_too_large", "result too large")


class _Outgoing:
    """One conversion. It counts as it goes, since a small value with shared parts can have an endless text."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._left = meter.limits.result

    def convert(self, value: Value, depth: int) -> Any:
        self._meter.visit(1)
        self._take(len(value) if type(value) is str else 1)
        if depth > _MAX_DEPTH:
            raise AleRuntimeError("not_json", f"cannot convert {kind(value)} to JSON: it is nested too deeply")
        match value:
            case None | bool() | int() | str():
                return value
            case float() | Fraction():
                return self._float(value)
            case Keyword() | Symbol():
                return value.name
            case List() | Vector() | Set():
                return [self.convert(item, depth + 1) for item in elements(value)]
            case Lazy():
                return [self.convert(item, depth + 1) for item in cells(value)]
            case Object():
                return self._object(value, depth)
            case _:
                raise AleRuntimeError("not_json", f"cannot convert {kind(value)} to JSON")

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _too_large()

    def _float(self, value: float | Fraction) -> float:
        number = as_float(value)
        if math.isfinite(number):
            return number
        name = "NaN" if math.isnan(number) else "infinity"
        raise AleRuntimeError("not_json", f"cannot convert {name} to JSON")

    def _object(self, value: Object, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in value.entries.items():
            name = self._name(of_key(key))
            if name in result:
                raise AleRuntimeError("not_json", f"cannot convert object to JSON: two keys are {name}")
            self._take(len(name))
            result[name] = self.convert(item, depth + 1)
        return result

    def _name(self, key: Value) -> str:
        """The text of a key: as `str` gives it, but the name for a keyword."""
        if type(key) is str:
            return key
        return key.name if isinstance(key, Keyword | Symbol) else printed(self._meter, key)
