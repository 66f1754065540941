"""Types of the small values used everywhere, and the one generator of fresh ids.

A `RunId` is unique in a store. Runs of the namespace `default` use the caller's id as it is; other namespaces put their
name and a slash in front, which is why a caller's id may not contain a slash.
"""

from __future__ import annotations

import random
import re
import secrets
from typing import NewType
from zlib import crc32

from .errors import InvalidInput

RunId = NewType("RunId", str)
TaskToken = NewType("TaskToken", str)
Seq = NewType("Seq", int)
Millis = NewType("Millis", int)
Shard = NewType("Shard", int)
Epoch = NewType("Epoch", int)

NEVER = Millis(0)
"""The time before anything has happened."""
SHARDS = 64
"""Number of shards that runs belong to by their ids. Shards of pools are numbered from here on."""
DEFAULT_NAMESPACE = "default"

_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_CALLER_ID = re.compile(r"[^/\x00-\x1f\x7f\ud800-\udfff]{1,4000}")
_NEW_ID = 200
"""Most characters of an id chosen by a caller. Ids of children contain their parents' ids and may be longer."""


def run_key(namespace: str, caller_id: object, *, new: bool = False) -> RunId:
    """The store-wide id of a caller's run; rejects ids that would be ambiguous or unprintable. Arguments may come from
    programs without type checks."""
    if namespace != DEFAULT_NAMESPACE:
        check_namespace(namespace)
    elif _is_plain(caller_id):
        return caller_id  # pyright: ignore[reportReturnType]
    if not isinstance(caller_id, str) or not _CALLER_ID.fullmatch(caller_id) or (new and len(caller_id) > _NEW_ID):
        raise InvalidInput(
            "kernel.bad_run_id",
            f"run id {str(caller_id)[:80]!r} is not usable",
            fix="use 1 to 200 printable characters without `/`",
        )
    return RunId(caller_id if namespace == DEFAULT_NAMESPACE else f"{namespace}/{caller_id}")


def _is_plain(caller_id: object) -> bool:
    """Whether an id is surely valid, as most are: matching a pattern takes several times as long."""
    return (
        type(caller_id) is str
        and caller_id.isascii()
        and caller_id.isprintable()
        and "/" not in caller_id
        and 0 < len(caller_id) <= _NEW_ID
    )


def check_namespace(namespace: object) -> str:
    """Rejects namespaces that would be ambiguous in an id, or unprintable."""
    if not isinstance(namespace, str) or not _NAMESPACE.fullmatch(namespace):
        raise InvalidInput(
            "kernel.bad_namespace",
            f"namespace {namespace!r} is not usable",
            fix="use lower-case letters, digits, `-` and `_`, at most 63 characters",
        )
    return namespace


def caller_id(run_id: RunId) -> str:
    """The id as its caller wrote it, without the namespace."""
    return run_id.rpartition("/")[2]


def shard_of(run_id: RunId) -> Shard:
    """The shard that a run's id maps to; it never changes."""
    return crc32(run_id.encode()) % SHARDS  # pyright: ignore[reportReturnType]


class Ids:
    """Generates ids and seeds. Tests pass a seed, so that a whole simulation is repeatable."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(secrets.randbits(128) if seed is None else seed)

    def run_id(self, now: Millis) -> str:
        """A time-ordered id (UUIDv7), so that new rows are adjacent in an index."""
        bits = (now & (1 << 48) - 1) << 80 | 7 << 76 | self._random.getrandbits(76)
        text = f"{bits & ~(3 << 62) | 2 << 62:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def key(self) -> str:
        """The key of an input that came without one."""
        return f"{self._random.getrandbits(128):032x}"

    def seed(self) -> int:
        return self._random.getrandbits(53)

    def fraction(self) -> float:
        """A random number for jitter, in [0, 1)."""
        return self._random.random()
