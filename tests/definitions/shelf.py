"""Definitions on a store that several processes share, and dialects that only describe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.definitions.definitions import Definitions
from plait.kernel.bundle import Bundle
from plait.kernel.definitions import Description, Numbering
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records
from plait.testing import VirtualClock
from tests.contract.stores.backends import Memory
from tests.kernel.filing import records_of


@dataclass
class Describing:
    """A dialect, as far as definitions ask it."""

    name: str
    loaded: Sequence[Description] = ()
    numbering: Numbering = "count"

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        self.read(definition)
        return ()

    def read(self, definition: object) -> object:
        return definition

    def describe(self) -> list[Description]:
        return list(self.loaded)


class CountedRecords(Records):
    """Counts what is read."""

    def __init__(self, records: Records) -> None:
        super().__init__(records._store, records._appender)  # pyright: ignore[reportPrivateUsage]
        self.reads = 0

    async def get(self, kind: str, namespace: str, id: str) -> Record | None:
        self.reads += 1
        return await super().get(kind, namespace, id)

    async def list(self, *args: Any, **options: Any) -> list[Record]:
        self.reads += 1
        return await super().list(*args, **options)


@dataclass
class Place:
    """A database, and the processes that use it."""

    records: Records
    clock: VirtualClock = field(default_factory=VirtualClock)

    def process(self, *loaded: Description, records: Records | None = None) -> Definitions:
        """Definitions as another process has them."""
        bundles = {each.name: each for each in (Describing("code", loaded), Describing("graph"), Describing("afl"))}
        return Definitions(cast("dict[str, Bundle]", bundles), records or self.records, self.clock)

    async def put(self, kind: str, namespace: str, id: str, body: bytes, at: int = 1) -> None:
        """A record as an older release, or a broken disk, left it."""
        await self.records.put(Record(kind, namespace, id, Raw(body), Millis(at)))

    async def put_older(self, description: Description, at: int = 1) -> None:
        id = f"{description.dialect}/{description.name}@{description.version}/{description.hash}"
        await self.put("definition", "", id, msgspec.json.encode(description), at)


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    async with records_of(Memory()) as records:
        yield Place(records)


def code(name: str, version: str = "v1", hash: str = "", **more: Any) -> Description:
    return Description(dialect="code", name=name, version=version, hash=hash or f"{version}-hash", **more)
