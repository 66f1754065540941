"""Query strings, strictly: unknown, repeated and unreadable parameters are refused."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl

import msgspec
import msgspec.inspect

from .errors import BadRequest
from .routes import Query

Q = TypeVar("Q", bound=Query)

_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_MOST = 100
"""Parameters in one query."""


def read_query(raw: bytes, shape: type[Q]) -> Q:
    found: dict[str, Any] = {}
    kinds = _kinds(shape)
    for name, text in _pairs(raw):
        kind = kinds.get(name)
        if kind is None:
            known = ", ".join(kinds) or "none"
            raise bad_query(f"there is no parameter {name[:80]!r} here", f"known: {known}")
        if kind == "texts":
            found.setdefault(name, []).append(text)
        elif name in found:
            raise bad_query(f"the parameter {name!r} stands twice", "keep one")
        else:
            found[name] = _whole(name, text) if kind == "whole" else text
    try:
        return msgspec.convert(found, shape)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        name = path.removesuffix("`").partition("[")[0]
        raise bad_query(f"the parameter {name!r} can't be used: {message}" if name else message, "") from None


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    if not raw:
        return []
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST)
    except ValueError:
        raise bad_query("the query can't be read", f"use percent-encoded UTF-8, at most {_MOST} parameters") from None
    if any("\0" in text for pair in pairs for text in pair):
        raise bad_query("the query holds a NUL character", "leave it out")
    return pairs


def _whole(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise bad_query(f"{name}={text[:40]!r} is no whole number", "use digits")
    return int(text)


Kind = Literal["text", "whole", "texts"]


@cache
def _kinds(shape: type[Query]) -> dict[str, Kind]:
    info = msgspec.inspect.type_info(shape)
    assert isinstance(info, msgspec.inspect.StructType)
    return {field.encode_name: _kind(field.type) for field in info.fields}


def _kind(type_: msgspec.inspect.Type) -> Kind:
    parts = type_.types if isinstance(type_, msgspec.inspect.UnionType) else (type_,)
    if any(isinstance(part, msgspec.inspect.ListType) for part in parts):
        return "texts"
    return "whole" if any(isinstance(part, msgspec.inspect.IntType) for part in parts) else "text"


def bad_query(what: str, fix: str) -> BadRequest:
    return BadRequest("http.bad_query", what, fix=fix)
