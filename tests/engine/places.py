"""Where an engine keeps its runs: the same test runs on each store, and a second engine finds what the first left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from plait import Engine
from plait.errors import NotFound
from plait.stores.memory import MemoryStore

T = TypeVar("T")


class Place(Protocol):
    def engine(self, *definitions: object, **options: Any) -> Engine:
        """An engine that is not open yet."""
        ...


@dataclass
class InMemory:
    store: MemoryStore = field(default_factory=MemoryStore)

    def engine(self, *definitions: object, **options: Any) -> Engine:
        return Engine(definitions=definitions, store=self.store, **options)


@dataclass
class OnDisk:
    path: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}?synchronous=NORMAL"

    def engine(self, *definitions: object, **options: Any) -> Engine:
        return Engine(self.url, definitions=definitions, **options)


async def soon(call: Callable[[], Awaitable[T]]) -> T:
    """Asks again and again, until it gets an answer that is not empty or an error that something is not there."""
    async with asyncio.timeout(10):
        while True:
            try:
                if found := await call():
                    return found
            except NotFound:
                pass
            await asyncio.sleep(0.001)


async def until(condition: Callable[[], bool]) -> None:
    """Goes round the event loop until something is so; threads and other engines are given a moment each time."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for may happen in a thread
            await asyncio.sleep(0.001)
