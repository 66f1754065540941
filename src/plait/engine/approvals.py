"""`engine.approvals`: what runs ask people, and people's decisions."""

from __future__ import annotations

from typing import Any, Literal

from plait.conditions import schema
from plait.kernel import values
from plait.kernel.approval import Approval, ApprovalFilter, ApprovalStatus
from plait.kernel.errors import Conflict, Flaw, InvalidInput, NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, check_namespace, run_key
from plait.kernel.inputs import Decided
from plait.kernel.kernel import Kernel

from .ask import ask
from .decided_approval import already_closed


class Approvals:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    async def list(
        self,
        namespace: str = DEFAULT_NAMESPACE,
        run_id: str | None = None,
        *,
        status: ApprovalStatus | Literal["all"] = "open",
        after: tuple[Millis, str] | None = None,
        limit: int | None = None,
    ) -> list[Approval]:
        """Open ones and those of one run come oldest first, others newest first. `after` is the `(asked_at, id)` of
        the last one of the page before."""
        self._kernel.must_live()
        query = ApprovalFilter(
            namespace=check_namespace(namespace),
            run_id=None if run_id is None else run_key(namespace, run_id),
            status=None if status == "all" else status,
            after=after,
            limit=limit,
        )
        return await self._kernel.store.approvals(query)

    async def get(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> Approval:
        """An approval, open or decided."""
        self._kernel.must_live()
        found = await self._kernel.store.approval(id)
        if found is None or found.namespace != namespace:
            raise NotFound(
                "kernel.no_approval", f"there is no approval {id}", fix="`plait approvals --status all` lists them"
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
    ) -> Approval:
        """Votes on an approval; durable when this returns. Of two people who decide at once, one is told that the
        other was first. `data` must fit the form, unless the vote is no. Returns the approval as it is after that."""
        if decision not in ("approve", "reject"):
            raise InvalidInput("kernel.bad_decision", f"decision {decision!r}", fix="use approve or reject")
        found = await self.get(id, namespace)
        values.text("by", by)
        values.text("the comment", comment, max_length=10_000)
        raw = values.encode(data, max_bytes=self._kernel.limits.max_payload)
        if found.status != "open":
            raise already_closed(found)
        if found.form and not (decision == "reject" and data is None):
            _must_fit(found, values.decode(raw))
        try:
            await ask(self._kernel, found.run_id, Decided(found.token, decision, by, comment, raw))
        except Conflict:
            if (latest := await self.get(id, namespace)).status != "open":
                raise already_closed(latest) from None
            raise
        return await self.get(id, namespace)


def _must_fit(approval: Approval, data: Any) -> None:
    flaws = [Flaw("kernel.bad_form", misfit.pointer, misfit.message) for misfit in schema.misfits(approval.form, data)]
    if flaws:
        raise InvalidInput(
            "kernel.bad_form",
            f"what came with the decision does not fit the form of {approval.id}",
            why="; ".join(f"{flaw.pointer or 'data'}: {flaw.message}" for flaw in flaws[:3]),
            fix="fill in the form as its JSON Schema says",
            flaws=flaws,
        )
