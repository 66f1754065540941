"""What one server process is made of, and what handlers share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from plait.observe.metrics import Metrics
from plait.registry import Engine

from .auth import AuthOptions, KeyGuard
from .caller import Guard, OpenGuard
from .errors import Overloaded, Stopping, TooManyWatchers

if TYPE_CHECKING:  # an extra
    from plait.observe.spans import Traces


Argyll = Literal["off", "local", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The limits of one process, and how it is reached."""

    open: bool = True
    """Nobody is asked who he is. Only for a loopback address: see `front`."""
    public_url: str = ""
    """Where people reach it, if that is not the address it listens on: for links, and for checks of Host and Origin."""
    argyll: Argyll = "off"
    """Whether Argyll's clients are served, who send no credentials; `local`: under this machine's names only."""
    unsigned_webhooks: bool = False
    """For development: whoever knows the token of some work may report it."""
    trusted_proxies: str = ""
    """Addresses whose `X-Forwarded-For` is believed, divided by commas."""
    head_bytes: int = 64 * 1024
    """Of a request's path and headers."""
    head_seconds: float = 20.0
    """How long a head may take to come."""
    max_body: int = 4 * 1024 * 1024
    """Bytes of a request's body."""
    body_seconds: float = 20.0
    """How long a body may take to come."""
    max_in_flight: int = 1_000
    """Requests under way, streams not counted; more are told to come later."""
    max_watchers: int = 2_000
    """Live streams."""
    heartbeat: float = 15.0
    """Seconds between signs of life on a silent stream."""
    stall_seconds: float = 60.0
    """How long a watcher may take nothing before his stream is closed."""
    drain_seconds: float = 10.0
    """How long requests under way may take to finish when the server is stopped."""


@dataclass(slots=True)
class Site:
    """Mutable on purpose: it counts what is under way."""

    engine: Engine
    auth: KeyGuard
    """Keys, sessions, links and the audit trail; they are there when the server is open, too."""
    guard: Guard
    settings: Settings
    metrics: Metrics
    traces: Traces | None = None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    in_flight: int = 0
    strangers: int = 0
    watchers: int = 0

    @contextmanager
    def stranger(self) -> Generator[None]:
        """A place for the body of someone nobody knows. There are few: who sends slowly, from many connections and
        without a key, must not keep those out who have one."""
        limit = self.settings.max_in_flight // 4
        if self.strangers >= limit:
            raise Overloaded(limit)
        self.strangers += 1
        try:
            yield
        finally:
            self.strangers -= 1

    @contextmanager
    def watching(self) -> Generator[None]:
        """A place among the live streams, for as long as one is open."""
        if self.stopping.is_set():
            raise Stopping
        if self.watchers >= self.settings.max_watchers:
            raise TooManyWatchers(self.settings.max_watchers)
        self.watchers += 1
        try:
            yield
        finally:
            self.watchers -= 1


@asynccontextmanager
async def site_of(
    engine: Engine,
    settings: Settings,
    options: AuthOptions | None = None,
    metrics: Metrics | None = None,
    traces: Traces | None = None,
    secret: bytes | None = None,
) -> AsyncGenerator[Site]:
    """A site on an engine that is open. `secret` is the one that signs, if it had to be known before."""
    auth = await KeyGuard.start(engine, options or AuthOptions(public_url=settings.public_url), secret)
    guard = OpenGuard() if settings.open else auth
    try:
        yield Site(engine, auth, guard, settings, metrics or Metrics(), traces)
    finally:
        await auth.close()
