"""`engine.approvals`: what runs ask people, and people's answers."""

from __future__ import annotations

from typing import Any

from plait.conditions import schema
from plait.kernel import values
from plait.kernel.errors import Flaw, InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, run_key
from plait.kernel.inputs import Decided
from plait.kernel.kernel import Kernel
from plait.kernel.store import Question

from .ask import ask


class Approvals:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def list(self, namespace: str = DEFAULT_NAMESPACE, run_id: str | None = None) -> list[Question]:
        """Open questions, oldest first; of all runs or of one."""
        self._kernel.must_live()
        return await self._kernel.store.questions(namespace, None if run_id is None else run_key(namespace, run_id))

    async def get(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> Question:
        """An open question."""
        found = next((question for question in await self.list(namespace) if question.id == id), None)
        if found is None:
            raise NotFound(
                "kernel.no_approval", f"there is no open approval {id}", why="it is unknown or has been decided"
            )
        return found

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
        was second. `data` must fit the question's form, unless the answer is no."""
        if decision not in ("approve", "reject"):
            raise InvalidInput("kernel.bad_decision", f"decision {decision!r}", fix="use approve or reject")
        found = await self.get(id, namespace)
        values.text("by", by)
        values.text("the comment", comment, max_length=10_000)
        raw = values.encode(data, max_bytes=self._kernel.limits.max_payload)
        if found.form and not (decision == "reject" and data is None):
            _must_fit(found, values.decode(raw))
        answer = Decided(found.token, decision, by, comment, raw)
        await ask(self._kernel, found.run_id, answer)


def _must_fit(question: Question, data: Any) -> None:
    flaws = [Flaw("kernel.bad_form", misfit.pointer, misfit.message) for misfit in schema.misfits(question.form, data)]
    if flaws:
        raise InvalidInput(
            "kernel.bad_form",
            f"what came with the answer does not fit the form of {question.id}",
            why="; ".join(f"{flaw.pointer or 'data'}: {flaw.message}" for flaw in flaws[:3]),
            fix="fill in the form as its JSON Schema says",
            flaws=flaws,
        )
