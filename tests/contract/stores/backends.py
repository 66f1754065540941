"""The stores under contract, each behind one face: how to open it, and how to open it a second time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from plait.kernel.store import Store
from plait.stores.memory import MemoryStore
from plait.stores.postgres import PostgresStore
from plait.stores.sqlite import SqliteStore


class Backend(Protocol):
    name: str

    def store(self) -> Store:
        """A store that is not open yet; each call gives what another process would have."""
        ...


@dataclass
class Sqlite:
    path: Path
    name: str = "sqlite"

    def store(self) -> Store:
        return SqliteStore(str(self.path))


@dataclass
class PostgreSQL:
    url: str
    name: str = "postgres"

    def store(self) -> Store:
        return PostgresStore(self.url)


@dataclass
class Memory:
    name: str = "memory"
    only: MemoryStore = field(default_factory=MemoryStore)

    def store(self) -> Store:
        return self.only


@asynccontextmanager
async def opened(backend: Backend) -> AsyncIterator[Store]:
    store = backend.store()
    await store.open()
    try:
        yield store
    finally:
        await store.close()
