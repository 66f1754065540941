"""Budget reservations for agents that run in other processes, until the next entry of their journals.

An attempt makes one call at a time, so it has at most one booking. A worker may be lost with one: the attempt's next
worker replaces it, and before an agent is refused for lack of budget, bookings of lost workers are dropped.
"""

from __future__ import annotations

from typing import Final

from plait.agents.budgets import Claim
from plait.agents.entries import AnyEntry, Replied
from plait.agents.failure import AgentFailure
from plait.agents.ledger import EngineBooking, EngineLedger, Spender
from plait.api.claim_id import ClaimId
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.store import Store

_MANY: Final = 1_000
"""Number of bookings from which each new one triggers a search for those of lost workers."""


class AgentBookings:
    def __init__(self, ledger: EngineLedger, store: Store) -> None:
        self._ledger = ledger
        self._store = store
        self._open: dict[tuple[RunId, TaskToken], tuple[ClaimId, EngineBooking]] = {}

    async def reserve(self, claim: ClaimId, spender: Spender, wanted: Claim) -> None:
        """Books a call; raises `AgentFailure` if a budget would be exceeded."""
        self._lose((claim.run_id, claim.token))
        if len(self._open) >= _MANY:
            await self._drop_lost()
        try:
            booking = await self._ledger.reserve(spender, wanted)
        except AgentFailure:
            if not await self._drop_lost():
                raise
            booking = await self._ledger.reserve(spender, wanted)
        self._lose((claim.run_id, claim.token))  # the same request may have come twice at once
        self._open[claim.run_id, claim.token] = claim, booking

    async def settle(self, claim: ClaimId, entry: AnyEntry) -> None:
        """Settles a booking by the entry that follows the call: books the reported use, or releases it."""
        known = self._open.get((claim.run_id, claim.token))
        if known is None or known[0] != claim:
            return
        del self._open[claim.run_id, claim.token]
        if isinstance(entry, Replied):
            await known[1].book(entry.usage.input + entry.usage.output, entry.cost_usd)
        else:
            await known[1].release()

    async def _drop_lost(self) -> int:
        """Drops bookings of lost workers; returns how many."""
        lost = [place for place, (claim, _) in list(self._open.items()) if not await self._holds(claim)]
        for place in lost:
            self._lose(place)
        return len(lost)

    async def _holds(self, claim: ClaimId) -> bool:
        rows = await self._store.queues.held(claim.run_id, claim.token)
        return any((row.claim, row.task.opening) == (claim.claim, claim.opening) for row in rows)

    def _lose(self, place: tuple[RunId, TaskToken]) -> None:
        if (known := self._open.pop(place, None)) is not None:
            known[1].lose()
