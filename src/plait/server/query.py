"""Parses query strings strictly: unknown, repeated and malformed parameters are refused."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl

import msgspec
import msgspec.inspect

from plait.api.shape import Query

from .errors import BadRequest

Q = TypeVar("Q", bound=Query)

_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_MAX_PARAMETERS = 100
"""Maximum number of parameters in one query."""


def read_query(raw: bytes, shape: type[Q]) -> Q:
    found: dict[str, Any] = {}
    kinds = _kinds(shape)
    for name, text in _pairs(raw):
        kind = kinds.get(name)
        if kind is None:
            known = ", ".join(kinds) or "none"
            raise bad_query(f"unknown parameter {name[:80]!r}", f"known: {known}")
        if kind == "texts":
            found.setdefault(name, []).append(text)
        elif name in found:
            raise bad_query(f"the parameter {name!r} is repeated", "send it once")
        else:
            found[name] = _read(name, text, kind)
    try:
        return msgspec.convert(found, shape)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        name = path.removesuffix("`").partition("[")[0]
        raise bad_query(f"invalid parameter {name!r}: {message}" if name else message, "") from None


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    if not raw:
        return []
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        raise bad_query("malformed query", f"use percent-encoded UTF-8, at most {_MAX_PARAMETERS} parameters") from None
    if any("\0" in text for pair in pairs for text in pair):
        raise bad_query("the query contains a NUL character", "remove it")
    return pairs


def _read(name: str, text: str, kind: Kind) -> str | int | bool:
    match kind:
        case "integer":
            return _integer(name, text)
        case "flag":
            return _flag(name, text)
        case _:
            return text


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise bad_query(f"{name}={text[:40]!r} is neither true nor false", "use true or false")
    return text == "true"


def _integer(name: str, text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise bad_query(f"{name}={text[:40]!r} is not an integer", "use digits")
    return int(text)


Kind = Literal["text", "integer", "flag", "texts"]


@cache
def _kinds(shape: type[Query]) -> dict[str, Kind]:
    info = msgspec.inspect.type_info(shape)
    assert isinstance(info, msgspec.inspect.StructType)
    return {field.encode_name: _kind(field.type) for field in info.fields}


def _kind(type_: msgspec.inspect.Type) -> Kind:
    parts = type_.types if isinstance(type_, msgspec.inspect.UnionType) else (type_,)
    if any(isinstance(part, msgspec.inspect.ListType) for part in parts):
        return "texts"
    if any(isinstance(part, msgspec.inspect.BoolType) for part in parts):
        return "flag"
    return "integer" if any(isinstance(part, msgspec.inspect.IntType) for part in parts) else "text"


def bad_query(what: str, fix: str) -> BadRequest:
    return BadRequest("http.bad_query", what, fix=fix)
