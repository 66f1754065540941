"""Users' values as CBOR (RFC 8949), limited to what JSON can express."""

from __future__ import annotations

import math
import struct
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.kernel import values

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(8)
_SIMPLES = {20: False, 21: True, 22: None}
_POSITIVE_BIG, _NEGATIVE_BIG = 2, 3
_DOUBLE = 27
_WORD = 1 << 64


def of_json(raw: Raw | bytes) -> bytes:
    return encode(msgspec.json.decode(raw))


def to_json(body: bytes) -> Raw:
    return Raw(values.plain(decode(body)))


def encode(value: Any) -> bytes:
    match value:
        case None | bool():
            return bytes([_SIMPLE << 5 | {False: 20, True: 21, None: 22}[value]])
        case int():
            return _integer(value)
        case float():
            return bytes([_SIMPLE << 5 | _DOUBLE]) + struct.pack(">d", value)
        case str():
            body = value.encode()
            return _head(_TEXT, len(body)) + body
        case list() | tuple():
            items = cast("list[Any]", value)
            return _head(_ARRAY, len(items)) + b"".join(map(encode, items))
        case dict():
            pairs = cast("dict[str, Any]", value)
            return _head(_MAP, len(pairs)) + b"".join(encode(key) + encode(item) for key, item in pairs.items())
        case _:
            raise TypeError(f"{type(value).__name__} is no JSON value")


def _integer(value: int) -> bytes:
    major, rest = (_UNSIGNED, value) if value >= 0 else (_NEGATIVE, -1 - value)
    if rest < _WORD:
        return _head(major, rest)
    body = rest.to_bytes((rest.bit_length() + 7) // 8, "big")
    tag = _POSITIVE_BIG if major == _UNSIGNED else _NEGATIVE_BIG
    return _head(_TAG, tag) + _head(_BYTES, len(body)) + body


def _head(major: int, value: int) -> bytes:
    if value < 24:
        return bytes([major << 5 | value])
    size = next(size for size in (1, 2, 4, 8) if value < 1 << 8 * size)
    return bytes([major << 5 | 24 + int(math.log2(size))]) + value.to_bytes(size, "big")


def decode(body: bytes) -> Any:
    value, end = _decode(body, 0)
    if end != len(body):
        raise ValueError(f"{len(body) - end} bytes are left over")
    return value


def _decode(body: bytes, at: int) -> tuple[Any, int]:
    major, low = body[at] >> 5, body[at] & 0x1F
    at += 1
    if major == _SIMPLE and low == _DOUBLE:
        return struct.unpack(">d", body[at : at + 8])[0], at + 8
    if major == _SIMPLE:
        return _SIMPLES[low], at
    size = 0 if low < 24 else 1 << low - 24
    number, at = (low if size == 0 else int.from_bytes(body[at : at + size], "big")), at + size
    match major:
        case 0:
            return number, at
        case 1:
            return -1 - number, at
        case 2:
            return body[at : at + number], at + number
        case 3:
            return body[at : at + number].decode(), at + number
        case 4:
            items: list[Any] = []
            for _ in range(number):
                item, at = _decode(body, at)
                items.append(item)
            return items, at
        case 5:
            pairs: dict[str, Any] = {}
            for _ in range(number):
                key, at = _decode(body, at)
                pairs[key], at = _decode(body, at)
            return pairs, at
        case _:
            big, at = _decode(body, at)
            found = int.from_bytes(big, "big")
            return found if number == _POSITIVE_BIG else -1 - found, at
