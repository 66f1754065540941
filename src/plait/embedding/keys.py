"""Keys of an embedded run: tuples in FoundationDB's encoding, whose bytes sort like the tuples.

    (1, index)          a name
    (2, *location)      an entry
    (3, index)          a waiting message
    (4, field)          the run itself, see `Field`
    (4, 8, number)      the id of a message that was delivered, and whose entry is gone
    (5, entry id)       the metadata of an entry

A location is a path of name indices; an iteration of a loop is the nested tuple `(index of the loop's name, number)`.
"""

from __future__ import annotations

from enum import IntEnum

Part = int | str | tuple[int, int]

_STRING, _NESTED, _ZERO = b"\x02", b"\x05", 0x14
_END = b"\x00"

NAMES, ENTRIES, MESSAGES, RUN, METADATA = 1, 2, 3, 4, 5


class Field(IntEnum):
    STATE = 1
    OUTPUT = 2
    ERROR = 3
    VERSION = 4
    INPUT = 5
    EVICTED = 6
    REST = 7
    HEARD = 8


def pack(*parts: Part) -> bytes:
    return b"".join(map(_packed, parts))


def _packed(part: Part) -> bytes:
    match part:
        case int():
            size = (part.bit_length() + 7) // 8
            return bytes([_ZERO + size]) + part.to_bytes(size, "big")
        case str():
            return _STRING + part.encode().replace(b"\x00", b"\x00\xff") + _END
        case tuple():
            return _NESTED + pack(*part) + _END


def index_of(key: bytes, *before: Part) -> int:
    """The last part of a key: of `(1, index)`, `(3, index)`, or a key with such an end."""
    first = len(pack(*before)) if before else 1 + key[0] - _ZERO
    return int.from_bytes(key[first + 1 :], "big")
