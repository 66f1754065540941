from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plait import Engine
from plait.server.auth import AuthOptions, KeyGuard

from .support import HandClock

OpenEngine = Callable[..., AbstractAsyncContextManager[Engine]]
OpenGuard = Callable[..., AbstractAsyncContextManager[KeyGuard]]


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/plait.db?synchronous=NORMAL"


@pytest.fixture
def engine(url: str, clock: HandClock) -> OpenEngine:
    """Engines on one SQLite file: each stands for a process."""

    def open(**options: Any) -> Engine:
        return Engine(url, **({"work": False, "clock": clock} | options))

    return open


@pytest.fixture
def guard(engine: OpenEngine) -> OpenGuard:
    """A guard as a server has it."""

    @asynccontextmanager
    async def open(**options: Any) -> AsyncGenerator[KeyGuard]:
        async with engine() as opened:
            found = await KeyGuard.start(opened, AuthOptions(**options))
            yield found
            await found.close()

    return open
