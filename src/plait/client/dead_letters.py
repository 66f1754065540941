"""Dead letters on a server: the calls of `engine.dlq`."""

from __future__ import annotations

from plait.api.cursor import cursor_of
from plait.api.dead_letter import DeadLetter as DeadLetterShape
from plait.api.dead_letter import DeadLetterPage, DeadLetterState
from plait.api.transport import Transport
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis
from plait.kernel.store import DeadLetter, DeadLetterStatus

from .records import dead_letter_of

_PAGE = 500


class RemoteDeadLetters:
    """Tasks that used up their attempts, to be retried or discarded."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self,
        namespace: str = DEFAULT_NAMESPACE,
        *,
        all: bool = False,
        status: DeadLetterStatus = "pending",
        run_id: str | None = None,
        after: tuple[Millis, str] | None = None,
        limit: int = 100,
    ) -> list[DeadLetter]:
        """Lists dead letters of all runs or of one, oldest first; with `all`, of every status. `after` is the
        `(at, id)` of the last one on the page before."""
        found: list[DeadLetter] = []
        asked = {"namespace": namespace, "status": "all" if all else status, "run": run_id}
        cursor = None if after is None else cursor_of(*after)
        while len(found) < limit:
            query = {**asked, "cursor": cursor, "limit": min(_PAGE, limit - len(found))}
            page = await self._transport.get(self._transport.path("dlq"), DeadLetterPage, query)
            found += map(dead_letter_of, page.dead_letters)
            if (cursor := page.next) is None:
                break
        return found

    async def get(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> DeadLetter:
        """Returns a dead letter, pending or settled."""
        path = self._transport.path("dlq", id)
        return dead_letter_of(await self._transport.get(path, DeadLetterShape, {"namespace": namespace}))

    async def retry(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Retries the task, with new attempts; a run that failed because of it continues."""
        await self._resolve(id, "retry", namespace)

    async def discard(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Discards the task; a compensation that stopped at it continues without it."""
        await self._resolve(id, "discard", namespace)

    async def _resolve(self, id: str, action: str, namespace: str) -> None:
        path = self._transport.path("dlq", id, action)
        await self._transport.post(path, DeadLetterState, {}, {"namespace": namespace})
