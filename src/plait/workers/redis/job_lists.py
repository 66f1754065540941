"""Agents' jobs by lists, for workers that know nothing else: `agent:jobs`, and `agent:results:<job_id>` for each.

Such a worker takes a job with `BLPOP`, so Redis does not know who has it. A hash beside the list holds each offer and
its state, and any engine tends all of them. An offer missing from it was flushed.

    in the list            kept for a while, then given back: its time limit runs already
    not in it any more     a worker has it: its claim is renewed until its time is over, then the next attempt begins
    not in the hash        Redis was flushed or lost it: given back at once, and offered again
    settled                results that still come are late; after a while it is forgotten
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from plait.api.task import QueueTask
from plait.definitions.hashing import canonical
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import Millis
from plait.kernel.task_inputs import AGENT, AGENT_QUEUE

from .collector import Collector
from .link import Link
from .signing_keys import SigningKeys
from .source import WORKER, AgentJobs, OfferSource

log = logging.getLogger("plait.redis")

_AHEAD: Final = 200
"""Most jobs in a list that no worker has taken yet."""
_GRACE: Final = 5_000
"""Milliseconds beyond a job's time limit for its result to arrive."""
_REMEMBERED: Final = 300_000
"""Milliseconds for which results of a settled job are still collected."""


class JobOffer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of an offered job; times by the engines' clocks."""

    job: str
    """The text of the job in the list."""
    claim: str
    """The engine's claim on the task."""
    timeout: int
    offered: Millis
    taken: Millis = Millis(0)
    settled: Millis = Millis(0)


_offer = msgspec.json.Decoder(JobOffer)


class JobLists:
    """The job lists of all namespaces."""

    def __init__(
        self,
        source: OfferSource,
        link: Link,
        keys: SigningKeys,
        clock: Clock,
        lease: float,
        jobs: Callable[[], AgentJobs],
        collector: Callable[[str], Collector],
    ) -> None:
        self._source = source
        self._link = link
        self._keys = keys
        self._clock = clock
        self._lease = lease
        self._jobs = jobs
        self._collector = collector
        self._places: dict[str, Collector] = {}
        self._mine: dict[str, tuple[str, str]] = {}
        """Jobs offered by this engine: their namespaces and claims."""
        self._looked = clock.monotonic() - lease

    async def start(self, namespaces: Iterable[str]) -> None:
        """Takes up results in flight. `namespaces`: those whose workers may have left results."""
        for namespace in namespaces:
            await self._place(namespace).resume()

    async def round(self, every: float) -> None:
        """Collects results, offers new jobs, and now and then checks those in flight."""
        for namespace in list(self._places):
            await self._collect(namespace)
        for namespace, queue in await self._source.unclaimed():
            if queue == AGENT_QUEUE:
                await self._offer_all(namespace)
        if self._clock.monotonic() - self._looked >= every:
            self._looked = self._clock.monotonic()
            for namespace in list(self._places):
                await self._tend(namespace)

    async def leave(self) -> None:
        """The engine stops: releases jobs that nobody has taken."""
        for namespace in list(self._places):
            offers = await self._offers(namespace)
            for id in [id for id, mine in self._mine.items() if mine[0] == namespace and id in offers]:
                await self._withdraw(namespace, id, offers[id])

    def _place(self, namespace: str) -> Collector:
        if namespace not in self._places:
            self._places[namespace] = self._collector(namespace)
        return self._places[namespace]

    # -- offering ------------------------------------------------------------------------------------------------

    async def _offer_all(self, namespace: str) -> None:
        self._place(namespace)
        limit = _AHEAD - len(await self._link.waiting_jobs(namespace))
        if limit <= 0:
            return
        tasks = await self._source.claim(
            WORKER,
            [AGENT_QUEUE],
            namespace=namespace,
            limit=limit,
            lease_ms=round(self._lease * 1000),
            kinds=[AGENT],
        )
        done = await asyncio.gather(*(self._offer(task) for task in tasks), return_exceptions=True)
        for problem in [each for each in done if each is not None]:
            raise problem

    async def _offer(self, task: QueueTask) -> None:
        try:
            job = await self._jobs().job(task)
            if job is not None:
                await self._push(task, job)
        except BaseException:
            await self._release(task.namespace, task.id)
            raise

    async def _push(self, task: QueueTask, job: dict[str, Any]) -> None:
        """Offers a job, flat and with its signature, for workers that check neither."""
        key = (await self._keys.ring(task.namespace)).current
        text = canonical({**job, "signature": key.sign(job), "signed_by": key.id}).decode()
        id, timeout = str(job["job_id"]), round(float(job["timeout_sec"]) * 1000)
        offer = JobOffer(text, task.id, timeout, self._clock.now())
        self._mine[id] = task.namespace, task.id
        await self._link.offer_job(task.namespace, id, text.encode(), values.plain(offer))

    # -- looking after them ----------------------------------------------------------------------------------------

    async def _tend(self, namespace: str) -> None:
        offers, waiting = await self._offers(namespace), set(await self._link.waiting_jobs(namespace))
        for id, offer in offers.items():
            await self._judge(namespace, id, offer, is_waiting=offer.job.encode() in waiting)
        for id in [id for id, mine in self._mine.items() if mine[0] == namespace and id not in offers]:
            await self._release(*self._mine.pop(id))

    async def _judge(self, namespace: str, id: str, offer: JobOffer, *, is_waiting: bool) -> None:
        now = self._clock.now()
        if offer.settled:
            if now - offer.settled > _REMEMBERED:
                self._mine.pop(id, None)
                await self._link.forget_job(namespace, id)
            return
        if is_waiting:
            if now - offer.offered > self._patience(offer):
                await self._withdraw(namespace, id, offer)
            else:
                await self._renew(namespace, id, offer)
            return
        if not offer.taken:
            offer = msgspec.structs.replace(offer, taken=now)
            await self._link.note_job(namespace, id, values.plain(offer))
        if now - offer.taken > offer.timeout + _GRACE:  # the store takes over
            await self._settle(namespace, id, offer)
        else:
            await self._renew(namespace, id, offer)

    def _patience(self, offer: JobOffer) -> float:
        return min(self._lease * 1000, offer.timeout) / 2

    async def _renew(self, namespace: str, id: str, offer: JobOffer) -> None:
        try:
            wanted = await self._source.heartbeat(offer.claim, namespace=namespace)
        except (Conflict, NotFound):
            wanted = False
        if not wanted:  # cancelled, or the next attempt has begun
            await self._link.withdraw_job(namespace, id, offer.job.encode())
            await self._settle(namespace, id, offer)

    async def _settle(self, namespace: str, id: str, offer: JobOffer) -> None:
        settled = msgspec.structs.replace(offer, settled=self._clock.now())
        await self._link.note_job(namespace, id, values.plain(settled))

    async def _withdraw(self, namespace: str, id: str, offer: JobOffer) -> None:
        if await self._link.withdraw_job(namespace, id, offer.job.encode()):
            self._mine.pop(id, None)
            await self._release(namespace, offer.claim)

    async def _release(self, namespace: str, claim: str) -> None:
        try:
            await self._source.release(claim, namespace=namespace)
        except (Conflict, NotFound):
            log.debug("the claim %s did not hold any more", claim)

    # -- results ---------------------------------------------------------------------------------------------------

    async def _collect(self, namespace: str) -> None:
        offers = await self._offers(namespace)
        if not offers and all(mine[0] != namespace for mine in self._mine.values()):
            del self._places[namespace]  # until it has jobs again
        elif found := await self._link.take_results(namespace, offers):
            await self._place(namespace).record(found)
            await self._tend(namespace)  # settles what was recorded

    async def _offers(self, namespace: str) -> dict[str, JobOffer]:
        found: dict[str, JobOffer] = {}
        for id, body in (await self._link.offered_jobs(namespace)).items():
            try:
                found[id] = _offer.decode(body)
            except msgspec.DecodeError:
                log.warning("what Redis has of the job %s can't be read", id[:200])
        return found
