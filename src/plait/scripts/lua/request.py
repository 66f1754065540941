"""Requests to a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from plait.kernel.values import Json

from .limits import DEFAULT, LuaLimits
from .source import in_order, wrapped

_FIT = 1 << 63
"""Lua seeds its random numbers with two signed 64-bit integers."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A script with everything its run depends on. A `result` of 0 bytes asks only for its truth."""

    op: Literal["run", "compile"]
    source: str
    arguments: list[Json] = []
    seed: tuple[int, int] = (0, 0)
    seconds: float
    memory: int
    instructions: int
    result: int
    lines: int
    printed: int


def to_run(
    script: str, arguments: Mapping[str, Json], names: Iterable[str], token: str, limits: LuaLimits, *, result: int
) -> Request:
    """A run of a script; a missing argument is nil."""
    ordered = in_order(names)
    return Request(
        op="run",
        source=wrapped(script, ordered),
        arguments=[arguments.get(name) for name in ordered],
        seed=_seed(token),
        seconds=limits.seconds,
        memory=limits.memory,
        instructions=limits.instructions,
        result=result,
        lines=limits.lines,
        printed=limits.printed,
    )


def to_compile(script: str, names: Iterable[str]) -> Request:
    """A check of a script that executes none of it."""
    return Request(
        op="compile",
        source=wrapped(script, in_order(names)),
        seconds=DEFAULT.seconds,
        memory=DEFAULT.memory,
        instructions=0,
        result=0,
        lines=0,
        printed=0,
    )


def _seed(token: str) -> tuple[int, int]:
    digest = hashlib.sha256(token.encode(errors="replace")).digest()
    return int.from_bytes(digest[:8], "big") - _FIT, int.from_bytes(digest[8:16], "big") - _FIT
