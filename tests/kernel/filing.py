"""The records of a store, as one process has them: a kernel that runs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from plait.kernel.bundle import Resolved
from plait.kernel.ids import Ids
from plait.kernel.kernel import Kernel, Settings
from plait.kernel.limits import Limits
from plait.kernel.records import Records
from plait.testing import VirtualClock
from plait.workers.local import LocalWorker
from tests.contract.stores.backends import Backend


@asynccontextmanager
async def records_of(backend: Backend, clock: VirtualClock | None = None) -> AsyncIterator[Records]:
    """It owns no shards, as records need none."""
    clock = clock or VirtualClock()
    kernel = Kernel(
        backend.store(),
        {},
        LocalWorker(clock),
        _no_children,
        clock=clock,
        ids=Ids(seed=7),
        limits=Limits(),
        settings=Settings(owner="reader", own_shards=False),
    )
    await kernel.open()
    try:
        yield Records(kernel.store, kernel)
    finally:
        await kernel.close()


async def _no_children(dialect: str, definition: Any, input: object, namespace: str) -> Resolved:
    raise AssertionError("nothing is started here")
