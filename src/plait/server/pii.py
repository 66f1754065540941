"""Personal values in answers: a caller without the right `pii:read` gets a placeholder for fields that hold them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from typing import Any, cast

import msgspec

from plait.api.caller import Caller
from plait.api.route import Answer, AnyRoute, Content, Stream
from plait.engine import Engine

from .auth.ttl_cache import TtlCache

HIDDEN = "[hidden: needs the right pii:read]"
_DATA = b"data: "


class PiiFilter:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._names: TtlCache[frozenset[str]] = TtlCache(engine.kernel.clock)

    async def filtered(
        self, answer: Answer | Content | Stream, route: AnyRoute, caller: Caller, namespace: str
    ) -> Answer | Content | Stream:
        """Workers get plain tasks, and public routes have no caller."""
        if caller.reads_pii or route.role in ("public", "worker", "any") or isinstance(answer, Content):
            return answer
        names = await self._hidden(namespace)
        if not names:
            return answer
        if isinstance(answer, Stream):
            return Stream(_frames(answer.frames, names))
        return answer if answer.shape is None else replace(answer, shape=_hide(answer.shape, names))

    async def _hidden(self, namespace: str) -> frozenset[str]:
        found = self._names.get(namespace)
        if found is None:
            found = await self._engine.pii_fields.of(namespace)
            self._names.put(namespace, found)
        return found


def hide(value: Any, names: Collection[str]) -> Any:
    """A copy in which fields of these names have a placeholder, at any depth."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {
            name: HIDDEN if name in names and each is not None else hide(each, names) for name, each in fields.items()
        }
    if isinstance(value, list):
        return [hide(each, names) for each in cast("list[Any]", value)]
    return value


def _hide(shape: object, names: Collection[str]) -> Any:
    return hide(msgspec.json.decode(msgspec.json.encode(shape)), names)


async def _frames(frames: AsyncIterator[bytes], names: Collection[str]) -> AsyncIterator[bytes]:
    async for several in frames:
        yield b"\n".join(_hide_line(line, names) for line in several.split(b"\n"))


def _hide_line(line: bytes, names: Collection[str]) -> bytes:
    if not line.startswith(_DATA):
        return line
    return _DATA + msgspec.json.encode(hide(msgspec.json.decode(line[len(_DATA) :]), names))
