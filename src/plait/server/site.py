"""One server process: its settings, and the state that its handlers share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from plait.kernel.bundle import Bundle
from plait.observe.metrics import Metrics
from plait.registry.engine import Engine

from .auth import AuthOptions, KeyGuard
from .errors import Overloaded, Stopping, TooManyWatchers
from .quotas import Quotas
from .readiness import Readiness

if TYPE_CHECKING:  # an optional dependency
    from plait.observe.spans import Traces


Argyll = Literal["off", "local", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The limits of one process, and how it is reached."""

    open: bool = True
    """Whether to skip authentication. Only for a loopback address: see `origin_check`."""
    public_url: str = ""
    """The address that people use, if it differs from the one the server listens on: for links and Host and Origin
    checks."""
    argyll: Argyll = "off"
    """Whether to serve Argyll's clients, which send no credentials; `local`: only under this machine's host names."""
    argyll_origins: tuple[str, ...] = ()
    """Sites whose pages may call the Argyll mount; `*`: all. Requests from pages of other sites are refused."""
    unsigned_webhooks: bool = False
    """For development: accept results from anyone who knows the token of the work."""
    trusted_proxies: str = ""
    """Addresses whose `X-Forwarded-For` is trusted, separated by commas."""
    head_bytes: int = 64 * 1024
    """Maximum size of a request's path and headers."""
    head_seconds: float = 20.0
    """Seconds that a head may take to arrive."""
    max_body: int = 4 * 1024 * 1024
    """Maximum bytes of a request's body."""
    body_seconds: float = 20.0
    """Seconds that a body may take to arrive."""
    max_in_flight: int = 1_000
    """Maximum number of requests in progress, not counting streams; more get 429."""
    max_connections: int | None = None
    """Maximum number of open connections; None: as many as the process has descriptors for, less a reserve."""
    max_watchers: int = 2_000
    """Maximum number of open live streams."""
    heartbeat: float = 15.0
    """Seconds between heartbeats on a quiet stream."""
    stall_seconds: float = 60.0
    """Seconds that a watcher may read nothing before its stream is closed."""
    drain_seconds: float = 10.0
    """Seconds that requests in progress may take to finish when the server stops."""


@dataclass(slots=True)
class Site:
    """The shared state of a process. Mutable on purpose: it counts the requests and streams in progress."""

    engine: Engine
    bundles: Mapping[str, Bundle]
    """The dialects by name; all are loaded, because a server shows all of them."""
    auth: KeyGuard
    """Keys, sessions, links and the audit log; present even if the server is open."""
    settings: Settings
    metrics: Metrics
    readiness: Readiness
    quotas: Quotas
    traces: Traces | None = None
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    in_flight: int = 0
    public_bodies: int = 0
    watchers: int = 0

    @contextmanager
    def public_body(self) -> Generator[None]:
        """Takes a slot for the body of an unauthenticated caller. There are few, so that a caller who sends slowly over
        many connections without a key can't lock out callers who have one."""
        limit = self.settings.max_in_flight // 4
        if self.public_bodies >= limit:
            raise Overloaded(limit)
        self.public_bodies += 1
        try:
            yield
        finally:
            self.public_bodies -= 1

    @contextmanager
    def watching(self) -> Generator[None]:
        """Takes a slot for one live stream."""
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
    """Makes the site of an open engine. `secret` is the signing secret, if the caller already has it."""
    auth = await KeyGuard.start(engine, options or AuthOptions(public_url=settings.public_url), secret)
    quotas = Quotas(engine.kernel.store, engine.kernel.clock)
    try:
        yield Site(engine, engine.bundles, auth, settings, metrics or Metrics(), Readiness(engine), quotas, traces)
    finally:
        await auth.close()
