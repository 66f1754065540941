"""`engine.dlq`: tasks that exhausted their attempts, to be retried or discarded."""

from __future__ import annotations

from typing import Literal

from plait.kernel.errors import Conflict, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, run_key
from plait.kernel.inputs import Resume
from plait.kernel.kernel import Kernel
from plait.kernel.store import DeadLetter, DeadLetterStatus

from .ask import ask_owner


class DeadLetters:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

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
        """Dead letters of all runs or of one, oldest first; with `all`, of every status. `after` is the `(at, id)` of
        the last one of the page before."""
        self._kernel.must_live()
        key = None if run_id is None else run_key(namespace, run_id)
        return await self._kernel.store.dead_letters(namespace, key, None if all else status, after, max(limit, 0))

    async def get(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> DeadLetter:
        """A dead letter, pending or settled."""
        self._kernel.must_live()
        letter = await self._kernel.store.dead_letter(id)
        if letter is None or letter.namespace != namespace:
            raise NotFound("kernel.no_dead_letter", f"there is no dead letter {id}", fix="`plait dlq` lists them")
        return letter

    async def retry(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Retries the task with fresh attempts; a run that failed with it continues."""
        await self._settle(id, "retry", namespace)

    async def discard(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Discards the task; a rollback that stopped at it continues without it."""
        await self._settle(id, "discard", namespace)

    async def _settle(self, id: str, verdict: Literal["retry", "discard"], namespace: str) -> None:
        letter = await self.get(id, namespace)
        if letter.status != "pending":
            raise Conflict("kernel.dead_letter_settled", f"dead letter {id} was {letter.status} already")
        resume = Resume("settle", token=letter.token, verdict=verdict)
        await ask_owner(self._kernel, letter.run_id, f"dead letter {id}", resume)
