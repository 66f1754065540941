"""The JSON codec, and the validation of values.

A valid value can be stored by every store and read back equal: no NUL, no lone surrogate, no NaN or infinity, bounded
depth and size, no duplicate keys. The check costs almost nothing for plain values: the encoded bytes are searched for
the few marks that make a full check necessary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Raw

from . import json_text
from .errors import InvalidInput, TooLarge
from .readable_types import ReadableTypes, Reader

T = TypeVar("T")

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 128

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")

NULL = Raw(b"null")
ABSENT = Raw()
"""No value at all, which is not `null`; a default for fields of structs, since msgspec can't read `Raw | None`."""
Json = Any
_kind: Callable[[Any], type[Any]] = type
_PLAIN = frozenset((int, bool, type(None)))
_SHORTEST_SUSPECT = len(b"null")


class NotEncodable(InvalidInput):
    """The value can't be stored as JSON."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            "value.not_encodable",
            f"the value at `{path}` can't be stored as JSON",
            why=why,
            fix="pass plain data: str, int, float, bool, None, list, dict, dataclass, datetime, UUID …",
        )
        self.path = path


def encode(value: object, max_bytes: int = MAX_BYTES) -> Raw:
    """Encodes a user's value, or raises with the path of the part that can't be encoded."""
    try:
        raw = _encode(value)
    except NotEncodable:
        raise
    except UnicodeEncodeError:
        raise NotEncodable(_find(value), "a string holds a lone surrogate") from None
    except RecursionError:
        raise NotEncodable("$", f"it is nested deeper than {MAX_DEPTH} levels, or holds itself") from None
    except (TypeError, OverflowError, ValueError) as error:
        raise NotEncodable(_find(value), str(error)) from None
    if len(raw) > max_bytes:
        raise TooLarge(
            "value.too_large",
            f"a value has {len(raw):,} bytes",
            why=f"the limit is {max_bytes:,}",
            fix="store it elsewhere and pass a reference",
        )
    if len(raw) < _SHORTEST_SUSPECT:
        return Raw(raw)
    # Not `in`: for bytes it first tries the argument as a number, by way of an exception
    nul = raw.find(b"\\u0000") >= 0
    suspect = nul or raw.find(b"null") >= 0 or (len(raw) > MAX_DEPTH and _nested(raw))
    if suspect and not _is_fine(value, nul=nul):
        _look_closely(value)
    return Raw(raw)


def _nested(raw: bytes) -> bool:
    """Whether it could be too deep: every level opens a bracket."""
    return raw.count(b"[") + raw.count(b"{") > MAX_DEPTH


def decode(raw: bytes | Raw, type: Any = Any) -> Any:
    """A fresh copy of a stored value, as the requested type."""
    return _any.decode(raw) if type is Any else decoder(type).decode(raw)


def decoder(type: Any) -> msgspec.json.Decoder[Any]:
    """A cached decoder for values of one type."""
    try:
        found = _decoders.get(type)
        if found is None:
            if len(_decoders) >= 2048:  # types created at run time must not pile up
                _decoders.clear()
            found = _decoders[type] = _decoder(type)
    except TypeError:  # an unhashable annotation
        found = _decoder(type)
    return found


def _decoder(type: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(ReadableTypes(_dec_hook).readable(type), dec_hook=_dec_hook)


def parse(text: str | bytes, rest: Callable[[], None] | None = None, *, max_values: int = json_text.MAX_VALUES) -> Json:
    """Parses JSON from outside; stricter than JSON parsers are. `rest` is called now and then while a thread reads a
    long text."""
    try:
        decoded = text if isinstance(text, str) else text.decode()
        value = json_text.read(decoded, max_depth=MAX_DEPTH, max_values=max_values, rest=rest)
    except InvalidInput:
        raise
    except RecursionError:
        raise NotEncodable("$", f"it is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise InvalidInput("value.malformed", "this is not JSON", why=str(error)) from None
    encode(value)
    return value


def text(what: str, value: object, *, max_length: int = 1000) -> str:
    """Checks a name or remark from outside, so that every store can keep it."""
    if not isinstance(value, str):
        raise InvalidInput("value.not_text", f"{what} is {type(value).__name__}", fix="use a string")
    bad = "NUL" if "\0" in value else "a lone surrogate" if _LONE_SURROGATE.search(value) else None
    if bad is not None or len(value) > max_length:
        why = f"it holds {bad}" if bad is not None else f"it has {len(value):,} characters"
        raise InvalidInput(
            "value.bad_text", f"{what} can't be stored", why=why, fix=f"at most {max_length:,} characters of plain text"
        )
    return value


def _is_fine(value: object, *, nul: bool) -> bool:
    """Whether it is plain data of finite numbers, not nested too deeply: checked level by level, which is many times
    faster than a walk that tracks its path. With `nul`, strings are checked, too."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        below: list[Any] = []
        for each in level:
            kind = _kind(each)
            if kind is dict:
                below += each.values()
                if nul:
                    below += each
            elif kind is list or kind is tuple:
                below += each
            elif kind is float:
                if not math.isfinite(each):
                    return False
            elif kind is str:
                if nul and "\0" in each:
                    return False
            elif kind is Raw:
                below.append(_any.decode(each))
            elif kind not in _PLAIN:
                return False
        if not below:
            return True
        level = below
    return False


def _look_closely(value: object) -> None:
    trouble = _walk(msgspec.to_builtins(value, enc_hook=_enc_hook, str_keys=True), "$", 0)
    if trouble:
        raise NotEncodable(*trouble)


def _walk(value: Json, path: str, depth: int) -> tuple[str, str] | None:
    if depth > MAX_DEPTH:
        return path, f"it is nested deeper than {MAX_DEPTH} levels"
    match value:
        case float() if not math.isfinite(value):
            return path, f"{value} is not JSON"
        case str() if "\0" in value:
            return path, "a string holds a NUL character"
        case dict():
            for key, item in cast("dict[str, Json]", value).items():
                if trouble := _walk(key, f"{path}.{key!r}", depth) or _walk(item, f"{path}.{key}", depth + 1):
                    return trouble
        case list() | tuple():
            for index, item in enumerate(cast("list[Json]", value)):
                if trouble := _walk(item, f"{path}[{index}]", depth + 1):
                    return trouble
        case _:
            pass
    return None


def _find(value: object, path: str = "$", depth: int = 0) -> str:
    """The path of the first part that can't be encoded."""
    if depth > MAX_DEPTH:
        return path
    items: list[tuple[str, object]] = []
    if isinstance(value, dict):
        items = [(f"{path}.{key}", item) for key, item in cast("dict[object, object]", value).items()]
    elif isinstance(value, (list, tuple)):
        items = [(f"{path}[{index}]", item) for index, item in enumerate(cast("list[object]", value))]
    else:
        names: Iterable[str] = getattr(value, "__dataclass_fields__", None) or getattr(value, "__struct_fields__", ())
        items = [(f"{path}.{name}", getattr(value, name, None)) for name in names]
    for where, item in items:
        try:
            _encoder.encode(item)
        except Exception:
            return _find(item, where, depth + 1)
    return path


def _enc_hook(value: object) -> Json:
    if isinstance(value, Raw):  # JSON already; only a full check has to decode it
        return _any.decode(value)
    dump = getattr(value, "model_dump", None)
    if dump is not None:  # pydantic, if installed; by name, since a field may have two aliases
        return dump(mode="json", by_alias=False, round_trip=True)  # computed fields are not input
    raise TypeError(f"it is a {type(value).__qualname__}")


def _dec_hook(type: type[T], value: Json) -> T:
    if isinstance(type, Reader):
        return cast("Any", type).read(value)
    validate = getattr(type, "model_validate", None)
    if validate is not None:
        return _validated(type, value)
    if isinstance(value, type):
        return value
    raise TypeError(f"values of type {type.__qualname__} can't be read back from JSON")


def _validated(model: Any, value: Json) -> Any:
    """Validates by field names, as recorded, or by aliases, as others write them."""
    try:
        return model.model_validate(value, by_alias=True, by_name=True)
    except TypeError:  # pydantic before 2.11 takes one or the other
        return model.model_validate(value)


_encoder = msgspec.json.Encoder(enc_hook=_enc_hook)
_encode = _encoder.encode
plain = msgspec.json.Encoder().encode
"""Encodes one of our own structures, whose parts have been validated already."""
_any = msgspec.json.Decoder()
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def pointer(path: str) -> str:
    """Converts a msgspec path, `$.a[0].b`, to a JSON pointer, `/a/0/b`. A key of a mapping has no name: `-`."""
    found = "".join(f"/{name or index}" for name, index in _PART.findall(path.removeprefix("$")))
    return found.replace("...", "-")
