"""The tasks that this engine has offered on Redis and that have not ended yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plait.api.claim_id import ClaimId
from plait.kernel.ids import RunId, TaskToken


@dataclass(slots=True)
class Offer:
    """A claim and the stream entry that stands for it. Mutable: its state is updated at every check."""

    claim: ClaimId
    namespace: str
    node: str
    stream: str
    entry: str
    patience: float
    """Seconds to wait for a consumer before it is released: its time limit runs already."""
    offered: float
    """Time of the offer, by the engine's monotonic clock."""
    renewed: float
    """Time of the last renewal of its claim."""
    missing: bool = False
    """Its entry was missing at the last check; a worker that removed it may be about to report."""

    @property
    def id(self) -> str:
        return self.claim.text()


class Offers:
    def __init__(self) -> None:
        self._by_stream: dict[str, dict[str, Offer]] = {}
        self._by_run: dict[RunId, dict[TaskToken, Offer]] = {}

    def __iter__(self) -> Iterator[Offer]:
        return iter([offer for offers in self._by_stream.values() for offer in offers.values()])

    @property
    def streams(self) -> list[str]:
        return list(self._by_stream)

    def add(self, offer: Offer) -> None:
        self._by_stream.setdefault(offer.stream, {})[offer.entry] = offer
        self._by_run.setdefault(offer.claim.run_id, {})[offer.claim.token] = offer

    def remove(self, offer: Offer) -> None:
        found = self._by_stream.get(offer.stream, {})
        if found.pop(offer.entry, None) is not None and not found:
            del self._by_stream[offer.stream]
        tokens = self._by_run.get(offer.claim.run_id, {})
        if tokens.get(offer.claim.token) is offer:
            del tokens[offer.claim.token]
            if not tokens:
                del self._by_run[offer.claim.run_id]

    def on(self, stream: str) -> dict[str, Offer]:
        """The offers of a stream by entry."""
        return dict(self._by_stream.get(stream, {}))

    def of_run(self, run_id: RunId) -> list[Offer]:
        return list(self._by_run.get(run_id, {}).values())

    def find(self, run_id: RunId, token: TaskToken) -> Offer | None:
        return self._by_run.get(run_id, {}).get(token)
