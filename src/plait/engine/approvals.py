"""`engine.approvals`: what runs ask people, and people's answers."""

from __future__ import annotations

from typing import Any

from plait.kernel import values
from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.inputs import Decided
from plait.kernel.kernel import Kernel
from plait.kernel.store import Question

from .asking import ask


class Approvals:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def list(self, namespace: str = DEFAULT_NAMESPACE) -> list[Question]:
        """Open questions, oldest first."""
        self._kernel.must_live()
        return await self._kernel.store.questions(namespace)

    async def decide(
        self,
        id: str,
        decision: str,
        *,
        by: str = "",
        comment: str = "",
        data: Any = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> None:
        """Answers a question; durable when this returns. Of two people who answer at once, one is told that he
        was second."""
        if decision not in ("approve", "reject"):
            raise InvalidInput("kernel.bad_decision", f"decision {decision!r}", fix="use approve or reject")
        found = next((question for question in await self.list(namespace) if question.id == id), None)
        if found is None:
            raise NotFound("kernel.no_approval", f"nothing is asked under {id}", why="it is unknown or decided")
        values.text("by", by)
        values.text("the comment", comment, max_length=10_000)
        answer = Decided(found.token, decision, by, comment, values.encode(data))
        await ask(self._kernel, found.run_id, answer)
