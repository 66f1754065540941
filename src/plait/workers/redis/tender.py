"""Tends offered tasks. The store's lease is the one that counts; it is renewed while Redis shows that the task is in
progress:

    not delivered          kept for a while, then given back: its time limit runs from the offer
    delivered, or its      the lease is renewed once, from then on its worker has that long; `XCLAIM … JUSTID` by its
    consumer spoke of it   consumer is a heartbeat
    silent                 not renewed: the lease runs out, and the store gives the task to the next, as a new attempt
    not there any more     Redis was flushed or lost it: given back at once, and offered again

While Redis is unavailable the leases are renewed, but for no longer than one lease: then the tasks are released.
"""

from __future__ import annotations

import logging

from plait.kernel.clock import Clock
from plait.kernel.errors import Conflict, NotFound, Unavailable
from plait.kernel.ids import RunId

from .link import EntryId, Link, Survey, order
from .offers import Offer, Offers
from .publisher import Publisher, Reading
from .source import OfferSource

log = logging.getLogger("plait.redis")

_LONG = 1 << 60
"""Idle milliseconds assumed for an entry that no consumer has."""
_MARGIN = 1.5
"""Tolerance for late checks, so that nothing since the previous one is missed."""
_PROBE = 1.0
"""Seconds for which a task is offered to consumers that have not read for long."""
_REST = 15.0
"""Seconds for which a stream is left alone after its consumers took nothing."""
_FORGET = 60.0
"""Seconds after which a stream without tasks is no longer checked."""


class Tender:
    def __init__(
        self, source: OfferSource, link: Link, offers: Offers, publisher: Publisher, clock: Clock, lease: float
    ) -> None:
        self._source = source
        self._link = link
        self._offers = offers
        self._publisher = publisher
        self._clock = clock
        self._lease = lease
        self._looked = clock.monotonic()
        self._away_since: float | None = None
        self._done_with: dict[str, list[EntryId]] = {}
        """Entries to delete, by stream."""

    async def round_if_due(self, every: float) -> None:
        if self._away_since is not None or self._clock.monotonic() - self._looked >= every:
            await self.round()
        else:
            await self.sweep()

    async def round(self) -> None:
        """Checks every stream that has tasks of ours, or may get some."""
        now = self._clock.monotonic()
        elapsed, self._looked = now - self._looked, now
        for name, reading in list(self._publisher.readings.items()):
            await self._tend(name, reading, elapsed)
            if not self._offers.on(name) and now - reading.used > _FORGET:
                del self._publisher.readings[name]
        await self.sweep()
        self._away_since = None

    async def sweep(self) -> None:
        """Deletes entries that must not be started any more."""
        while self._done_with:
            name, entries = self._done_with.popitem()
            try:
                await self._link.remove(name, entries)
            except Unavailable:
                self._done_with.setdefault(name, []).extend(entries)
                raise

    def settled(self, offer: Offer) -> None:
        """The task ended, or its claim is lost."""
        self._offers.remove(offer)
        self._done_with.setdefault(offer.stream, []).append(offer.entry)

    def cancelled(self, run_id: RunId) -> None:
        """The run ended: withdraws its offers."""
        for offer in self._offers.of_run(run_id):
            self.settled(offer)

    async def _tend(self, name: str, reading: Reading, elapsed: float) -> None:
        survey, ours = await self._link.survey(name), self._offers.on(name)
        reading.see(survey, ours.values())
        for offer in ours.values():
            await self._judge(offer, survey, reading, elapsed)
        self._clear(name, survey)

    async def _judge(self, offer: Offer, survey: Survey, reading: Reading, elapsed: float) -> None:
        now = self._clock.monotonic()
        if offer.entry not in survey.entries:
            if offer.missing:
                await self._give_back(offer)
            offer.missing = True
        elif not survey.is_delivered(offer.entry):
            patience = offer.patience if reading.fresh else min(_PROBE, offer.patience)
            if not reading.consumers or now - offer.offered > patience:
                await self._withdraw(offer, reading)
        elif survey.idle.get(offer.entry, _LONG) < elapsed * _MARGIN * 1000:
            await self._renew(offer)
        elif now - offer.renewed > self._lease:  # acknowledged without a result, or silent: the store takes over
            self.settled(offer)

    # -- Redis is away -------------------------------------------------------------------------------------------

    async def away(self) -> None:
        """Called repeatedly until Redis is back."""
        now = self._clock.monotonic()
        if self._away_since is None:
            self._away_since = now
        for reading in self._publisher.readings.values():
            reading.consumers = False  # nothing is offered before they are seen again
        if now - self._away_since < self._lease:
            for offer in self._offers:
                if now - offer.renewed > self._lease / 3:
                    await self._renew(offer)
        else:
            for offer in self._offers:
                self.settled(offer)
                await self._give_back(offer)

    async def leave(self) -> None:
        """The engine stops: releases offers that nobody has taken. Consumers report theirs to any engine."""
        for name in self._offers.streams:
            survey = await self._link.survey(name)
            for offer in self._offers.on(name).values():
                if survey.is_delivered(offer.entry):
                    await self._renew(offer)
                else:
                    await self._withdraw(offer, None)
        await self.sweep()

    # -- what may become of an offer -----------------------------------------------------------------------------

    async def _renew(self, offer: Offer) -> None:
        try:
            wanted = await self._source.heartbeat(offer.id, namespace=offer.namespace)
        except (Conflict, NotFound):
            wanted = False
        if wanted:
            offer.renewed = self._clock.monotonic()
        else:  # reported to another engine, cancelled, or the next attempt has begun
            self.settled(offer)

    async def _withdraw(self, offer: Offer, reading: Reading | None) -> None:
        if not await self._link.withdraw(offer.stream, offer.entry):
            return  # it was taken just now
        if reading is not None and not reading.fresh:
            reading.rest_until = self._clock.monotonic() + _REST
        await self._give_back(offer)

    async def _give_back(self, offer: Offer) -> None:
        self._offers.remove(offer)
        try:
            await self._source.release(offer.id, namespace=offer.namespace)
        except (Conflict, NotFound):
            log.debug("the claim on %s did not hold any more", offer.claim.token)

    def _clear(self, name: str, survey: Survey) -> None:
        """Deletes old entries of an engine that is gone: a live one would have withdrawn what nobody started."""
        ours, long_ago = self._offers.on(name), round(self._lease * 2000)
        others = [entry for entry in survey.entries if entry not in ours]
        for entry in others:
            if survey.now - order(entry)[0] > long_ago and survey.idle.get(entry, _LONG) > long_ago:
                self._done_with.setdefault(name, []).append(entry)
