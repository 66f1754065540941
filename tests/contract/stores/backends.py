"""The stores under contract, each behind one face: how to open it, and how to open it a second time."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from plait.codec.key_ring import LocalKeyRing
from plait.codec.store import EncryptedStore
from plait.kernel.clock import SystemClock
from plait.kernel.store import Store
from plait.stores.memory import MemoryStore
from plait.stores.postgres import PostgresStore
from plait.stores.sqlite import SqliteStore


class Backend(Protocol):
    @property
    def name(self) -> str: ...

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


@dataclass
class Encrypted:
    """Any of them, behind the door that encrypts; each store has read its keys for itself."""

    below: Backend
    ring: LocalKeyRing = field(default_factory=lambda: LocalKeyRing([os.urandom(32)]))

    @property
    def name(self) -> str:
        return self.below.name

    def store(self) -> Store:
        return EncryptedStore(self.below.store(), self.ring, SystemClock())


@asynccontextmanager
async def opened(backend: Backend) -> AsyncIterator[Store]:
    store = backend.store()
    await store.open()
    try:
        yield store
    finally:
        await store.close()
