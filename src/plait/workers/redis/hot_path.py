"""The hot path: everything between an engine and Redis while the engine is open.

Redis makes no difference to what is true: while it is unavailable tasks wait in the store, and each part continues when
it is back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.queue_watch import QueueWatch
from plait.kernel.records import Records

from .collector import Collector
from .job_lists import JobLists
from .link import UNREACHABLE, Link
from .mirror import Mirror
from .names import agent_results_in_flight, in_flight
from .offers import Offers
from .publisher import Publisher
from .settings import RedisSettings
from .signing_keys import SigningKeys
from .source import AgentJobs, OfferSource
from .tender import Tender
from .uninterrupted import to_the_end

log = logging.getLogger("plait.redis")

_LOOK_EVERY = 1.0
"""Seconds between two checks of offered tasks."""
_LOOK_FOR_RESULTS = 0.2
"""Seconds between two polls of the result lists: there is one for each job, and no way to wait for many."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
"""Seconds between retries while Redis or the store is unavailable."""


class HotPath:
    def __init__(
        self,
        settings: RedisSettings,
        *,
        source: OfferSource,
        watch: QueueWatch,
        records: Records,
        mirror: Mirror,
        clock: Clock,
        jobs: Callable[[], AgentJobs],
        lists: bool = False,
    ) -> None:
        """`lists`: agents are also offered as jobs in lists."""
        self._settings = settings
        self._source = source
        self._watch = watch
        self._mirror = mirror
        self._clock = clock
        self._link = Link(settings)
        self._keys = SigningKeys(records, clock)
        self._offers = Offers()
        self._jobs = jobs
        self._publisher = Publisher(source, self._link, self._keys, self._offers, clock, settings.lease, jobs)
        self._tender = Tender(source, self._link, self._offers, self._publisher, clock, settings.lease)
        self._lists = self._job_lists() if lists else None
        self._collecting: dict[str, asyncio.Task[None]] = {}
        self._working: list[asyncio.Task[None]] = []
        self._stopping = False
        self._trouble = ""
        """The code of the error that keeps it from working."""

    async def start(self, namespaces: Iterable[str]) -> None:
        """Starts all parts. `namespaces`: those whose workers may have left results."""
        for namespace in {DEFAULT_NAMESPACE, *namespaces}:
            self._collect(namespace)
        self._working = [
            asyncio.ensure_future(self._offer_all()),
            asyncio.ensure_future(self._keep_trying(self._mirror_round)),
        ]
        if self._lists is not None:
            self._working.append(asyncio.ensure_future(self._list_all(self._lists, {DEFAULT_NAMESPACE, *namespaces})))

    async def stop(self) -> None:
        """Releases offers that nobody has started. Later results are taken by other engines, or later."""
        self._stopping = True
        working = [*self._working, *self._collecting.values()]
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        try:
            await self._mirror.write(self._link)
            await self._tender.leave()
            if self._lists is not None:
                await self._lists.leave()
        except PlaitError as error:
            log.warning("tasks on Redis could not be taken back; their leases run out: %s", error)
        await self._link.close()

    # -- offering ------------------------------------------------------------------------------------------------

    async def _offer_all(self) -> None:
        with self._watch.bell() as bell:

            async def offer() -> None:
                await to_the_end(self._offer_round())
                await bell.wait(self._every)

            await self._keep_trying(offer)

    async def _offer_round(self) -> None:
        for run_id in self._mirror.take_cancelled():
            self._tender.cancelled(run_id)
        try:
            await self._tender.round_if_due(self._every)
            await self._publisher.round()
        except Unavailable as error:
            if error.code == UNREACHABLE:
                await self._tender.away()
            raise
        for reading in self._publisher.readings.values():
            self._collect(reading.namespace)

    @property
    def _every(self) -> float:
        return min(_LOOK_EVERY, self._settings.lease / 3)

    # -- collecting ----------------------------------------------------------------------------------------------

    def _collect(self, namespace: str) -> None:
        if namespace not in self._collecting:
            self._collecting[namespace] = asyncio.ensure_future(self._collect_all(namespace))

    async def _collect_all(self, namespace: str) -> None:
        collector = self._collector(namespace, in_flight(namespace))

        async def collect() -> None:
            await collector.round()
            self._reached()

        await self._keep_trying(collect, first=collector.resume)

    def _collector(self, namespace: str, target: str) -> Collector:
        return Collector(
            namespace,
            self._source,
            self._link,
            self._keys,
            self._offers,
            self._tender,
            self._jobs,
            require_signed=self._settings.require_signed_results,
            target=target,
        )

    # -- lists ---------------------------------------------------------------------------------------------------

    def _job_lists(self) -> JobLists:
        return JobLists(
            self._source,
            self._link,
            self._keys,
            self._clock,
            self._settings.lease,
            self._jobs,
            lambda namespace: self._collector(namespace, agent_results_in_flight(namespace)),
        )

    async def _list_all(self, lists: JobLists, namespaces: Iterable[str]) -> None:
        with self._watch.bell() as bell:

            async def list_jobs() -> None:
                await to_the_end(lists.round(self._every))
                await bell.wait(_LOOK_FOR_RESULTS)

            await self._keep_trying(list_jobs, first=lambda: lists.start(namespaces))

    # -- whatever happens ----------------------------------------------------------------------------------------

    async def _mirror_round(self) -> None:
        await self._mirror.some()
        await self._mirror.write(self._link)

    async def _keep_trying(
        self, work: Callable[[], Awaitable[None]], *, first: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Repeats the work; runs `first` at the beginning, and after each time that Redis or the store was
        unavailable."""
        pause, begun = _FIRST_PAUSE, False
        while not self._stopping:
            try:
                if first is not None and not begun:
                    await first()
                begun = True
                await work()
                pause = _FIRST_PAUSE
            except Unavailable as error:
                self._say(error)
                begun = False
                await sleep(self._clock, pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            except Exception:
                log.exception("the Redis hot path failed at something; it goes on")
                await sleep(self._clock, _LONGEST_PAUSE)

    def _say(self, error: Unavailable) -> None:
        """Logs an outage once, however many parts notice it."""
        if self._trouble != error.code:
            self._trouble = error.code
            log.warning("will try again: %s", error)

    def _reached(self) -> None:
        if self._trouble:
            self._trouble = ""
            log.info("Redis is reached again")
