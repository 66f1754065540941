"""Dead letters on a server: the calls of `engine.dlq`."""

from __future__ import annotations

from plait.api.dead_letter import DeadLetterList, DeadLetterState
from plait.api.transport import Transport
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.store import DeadLetter

from .records import dead_letter_of


class RemoteDeadLetters:
    """Tasks that used up their attempts, to be retried or discarded."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self, namespace: str = DEFAULT_NAMESPACE, *, all: bool = False, run_id: str | None = None
    ) -> list[DeadLetter]:
        """Lists dead letters of all runs or of one, oldest first; with `all`, also those retried or discarded."""
        query = {"namespace": namespace, "status": "all" if all else "pending", "run": run_id}
        found = await self._transport.get(self._transport.path("dlq"), DeadLetterList, query)
        return [dead_letter_of(letter) for letter in found.dead_letters]

    async def retry(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Retries the task, with new attempts; a run that failed because of it continues."""
        await self._resolve(id, "retry", namespace)

    async def discard(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Discards the task; a compensation that stopped at it continues without it."""
        await self._resolve(id, "discard", namespace)

    async def _resolve(self, id: str, action: str, namespace: str) -> None:
        path = self._transport.path("dlq", id, action)
        await self._transport.post(path, DeadLetterState, {}, {"namespace": namespace})
