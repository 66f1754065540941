"""Hides personal values in answers: a caller without the right `pii:read` gets a placeholder instead.

A field is recognized by its name, at any depth, and also in texts: `email=anna@example.com`, or JSON in a log line. If
a text for people repeats a value that the same answer hides, or that its run holds in such a field, it is hidden there
as well.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import msgspec

from plait.api.caller import Caller
from plait.api.route import Answer, AnyRoute, Content, Stream
from plait.engine import Engine
from plait.kernel.ids import run_key
from plait.kernel.loader import recorded

from .auth.ttl_cache import TtlCache

HIDDEN = "[hidden: needs the right pii:read]"
_DATA = b"data: "
_FOR_PEOPLE = frozenset(
    {"text", "message", "args", "notes", "trace", "title", "comment", "reason", "cause", "why"}
    | {"prompt", "instructions", "reasoning", "feedback", "problem"}  # of agents
)
"""Fields with free text for people, in which values are masked. Other fields, such as ids, are compared by programs."""
LOGS = "runs.logs"
"""The route whose answers are only texts."""
_SHORTEST = 4
"""Minimum length of a value to look for in texts; shorter ones occur everywhere."""
_MOST = 1_000


class PiiFilter:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._names: TtlCache[frozenset[str]] = TtlCache(engine.kernel.clock)

    async def filtered(
        self, answer: Answer | Content | Stream, route: AnyRoute, caller: Caller, namespace: str, run_id: str | None
    ) -> Answer | Content | Stream:
        """Returns the answer, with personal values hidden from callers without the right. Workers get plain tasks, and
        public routes have no caller. `run_id`: the run that the answer is about."""
        if caller.reads_pii or route.role in ("public", "worker", "agent", "any") or isinstance(answer, Content):
            return answer
        names = await self.hidden(namespace)
        if not names:
            return answer
        if isinstance(answer, Stream):
            return Stream(_frames(answer.frames, names))
        if answer.shape is None:
            return answer
        known = await self._held(namespace, run_id, names) if route.name == LOGS and run_id is not None else ()
        return replace(answer, shape=_hide(answer.shape, names, known))

    async def hidden(self, namespace: str) -> frozenset[str]:
        """Returns the names of the fields to hide."""
        found = self._names.get(namespace)
        if found is None:
            found = await self._engine.pii_fields.of(namespace)
            self._names.put(namespace, found)
        return found

    async def for_strangers(self, shape: object, namespace: str) -> object:
        """Returns the shape as a client without credentials gets it."""
        names = await self.hidden(namespace)
        return _hide(shape, names) if names and shape is not None else shape

    async def _held(self, namespace: str, run_id: str, names: frozenset[str]) -> list[str]:
        """Returns the personal values of a run: its log lines may repeat them without naming a field."""
        events = await recorded(self._engine.kernel.store, run_key(namespace, run_id))
        return list(_values([event.data for event in events], names))


def hide(value: Any, names: Collection[str], known: Iterable[str] = ()) -> Any:
    """Returns a copy with a placeholder in fields of these names, at any depth, and for their values in texts for
    people."""
    found = sorted({*known, *_values(value, names)}, key=len, reverse=True)[:_MOST]
    return _hidden(value, names, found)


def _hidden(value: Any, names: Collection[str], found: list[str], field: str = "") -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {
            name: HIDDEN if name in names and each is not None else _hidden(each, names, found, name)
            for name, each in fields.items()
        }
    if isinstance(value, list):
        return [_hidden(each, names, found, field) for each in cast("list[Any]", value)]
    if isinstance(value, str) and field in _FOR_PEOPLE:
        return _hidden_in_text(value, names, found)
    return value


def _hidden_in_text(text: str, names: Collection[str], found: list[str]) -> str:
    if any(name in text for name in names):
        text = _assignments(frozenset(names)).sub(rf"\1{HIDDEN}", text)
    for value in found:
        text = text.replace(value, HIDDEN)
    return text


@lru_cache(64)
def _assignments(names: frozenset[str]) -> re.Pattern[str]:
    """`email=x`, `email: "x y"`, `"email": "x"`, `'email': 'x'`."""
    wanted = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"""((?<!\w)(?:{wanted})["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}}\])]+)""")


def _values(value: Any, names: Collection[str], inside: bool = False) -> Iterator[str]:
    """Yields the values in fields of these names."""
    if isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            yield from _values(each, names, inside or name in names)
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _values(each, names, inside)
    elif inside and isinstance(value, str) and len(value) >= _SHORTEST:
        yield value


def _hide(shape: object, names: Collection[str], known: Iterable[str] = ()) -> Any:
    return hide(msgspec.json.decode(msgspec.json.encode(shape)), names, known)


async def _frames(frames: AsyncIterator[bytes], names: Collection[str]) -> AsyncIterator[bytes]:
    async for several in frames:
        yield b"\n".join(_hide_line(line, names) for line in several.split(b"\n"))


def _hide_line(line: bytes, names: Collection[str]) -> bytes:
    if not line.startswith(_DATA):
        return line
    return _DATA + msgspec.json.encode(hide(msgspec.json.decode(line[len(_DATA) :]), names))
