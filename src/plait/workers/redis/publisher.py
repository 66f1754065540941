"""Offers tasks: claims rows of queues that have readers on Redis, and adds each to its stream as a signed envelope.

A queue without consumers there is left alone: its tasks are for other kinds of workers, and a run that waits for one
says so. Only a few tasks are offered ahead of consumers: the rest wait in the store, in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from plait.api.claim_id import read
from plait.api.task import QueueTask
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.task_inputs import AGENT

from .envelope import seal, token_of
from .link import Link, Survey
from .names import stream as stream_of
from .offers import Offer, Offers
from .signing_keys import SigningKeys
from .source import WORKER, AgentJobs, OfferSource

log = logging.getLogger("plait.redis")

AHEAD = 200
"""Most tasks in a stream that no consumer has taken yet."""
FRESH = 60_000
"""Milliseconds since its last read within which a consumer counts as present. One silent for longer is probed with one
task."""
_LOOK_EVERY = 0.25
"""Seconds between two polls of the list of queues."""


@dataclass(slots=True)
class Reading:
    """What is known of a stream's readers since the last check. Mutable: updated repeatedly."""

    namespace: str
    queue: str
    consumers: bool = False
    fresh: bool = False
    delivered: int = 0
    """How many of our offers consumers have."""
    rest_until: float = 0.0
    """Nobody took the last offer: the stream is left alone until then."""
    used: float = 0.0
    """When it last had tasks."""

    def see(self, survey: Survey, ours: Iterable[Offer]) -> None:
        self.consumers = bool(survey.consumers)
        self.fresh = any(idle < FRESH for idle in survey.consumers)
        self.delivered = sum(survey.is_delivered(offer.entry) for offer in ours)


class Publisher:
    def __init__(
        self,
        source: OfferSource,
        link: Link,
        keys: SigningKeys,
        offers: Offers,
        clock: Clock,
        lease: float,
        jobs: Callable[[], AgentJobs],
    ) -> None:
        self._source = source
        self._link = link
        self._keys = keys
        self._offers = offers
        self._clock = clock
        self._lease = lease
        self._jobs = jobs
        self._looked = -_LOOK_EVERY
        self.readings: dict[str, Reading] = {}
        """Readings by stream."""

    async def round(self) -> None:
        """Offers what can be offered now."""
        await self._look()
        for name, reading in list(self.readings.items()):
            while (limit := self._limit(name, reading)) > 0:
                if await self._offer(name, reading, limit) < limit:
                    break

    async def _look(self) -> None:
        """Finds queues with tasks, and the readers of their streams; known streams are checked by the tender."""
        now = self._clock.monotonic()
        if now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        for namespace, queue in await self._source.unclaimed():
            name = stream_of(namespace, queue)
            if name not in self.readings:
                reading = self.readings[name] = Reading(namespace, queue)
                reading.see(await self._link.survey(name), ())
            self.readings[name].used = now

    def _limit(self, name: str, reading: Reading) -> int:
        if not reading.consumers or self._clock.monotonic() < reading.rest_until:
            return 0
        waiting = len(self._offers.on(name)) - reading.delivered
        return (AHEAD if reading.fresh else 1) - waiting

    async def _offer(self, name: str, reading: Reading, limit: int) -> int:
        tasks = await self._source.claim(
            WORKER, [reading.queue], namespace=reading.namespace, limit=limit, lease_ms=round(self._lease * 1000)
        )
        if tasks:
            try:
                await self._publish(name, reading.namespace, tasks)
            except BaseException:
                for task in tasks:  # nobody can have read them, or it does not matter if someone has
                    with suppress(Conflict, NotFound):
                        await self._source.release(task.id, namespace=reading.namespace)
                raise
        return len(tasks)

    async def _token(self, task: QueueTask, namespace: str) -> dict[str, Any] | None:
        """The token of a task; None if nothing is left to do."""
        if task.kind == AGENT:
            try:
                return await self._jobs().job(task)
            except (Conflict, NotFound):
                log.debug("the claim on %s did not hold any more", task.label)
                return None
        return token_of(task, read(task.id, namespace), self._clock.now())

    async def _publish(self, name: str, namespace: str, tasks: list[QueueTask]) -> None:
        key = (await self._keys.ring(namespace)).current
        tokens = await asyncio.gather(*(self._token(task, namespace) for task in tasks))
        sent = [(task, token) for task, token in zip(tasks, tokens, strict=True) if token is not None]
        entries = [{"token": seal(token, key), "run_id": task.run_id, "node_id": task.node} for task, token in sent]
        ids = await self._link.add(name, entries)
        moment = self._clock.monotonic()
        for (task, _), entry in zip(sent, ids, strict=True):
            claim = read(task.id, namespace)
            limits = [self._lease, *(ms / 1000 for ms in (task.timeout_ms, task.heartbeat_ms) if ms is not None)]
            patience = min(limits) / 2
            self._offers.add(Offer(claim, namespace, task.node, name, entry, patience, moment, moment))
