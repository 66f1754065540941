"""Approvals on a server: the calls of `engine.approvals`."""

from __future__ import annotations

from typing import Any, Literal

from plait.api.approval import Approval as ApprovalShape
from plait.api.approval import ApprovalPage, Decided
from plait.api.cursor import cursor_of
from plait.api.transport import Transport
from plait.kernel.approval import Approval, ApprovalStatus
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis

from .records import approval_of

_PAGE = 500


class RemoteApprovals:
    """Approvals that runs request, and the decisions on them."""

    def __init__(self, transport: Transport, *, keyed: bool) -> None:
        self._transport = transport
        self._keyed = keyed

    async def list(
        self,
        namespace: str = DEFAULT_NAMESPACE,
        run_id: str | None = None,
        *,
        status: ApprovalStatus | Literal["all"] = "open",
        after: tuple[Millis, str] | None = None,
        limit: int = 100,
    ) -> list[Approval]:
        """Lists approvals: open ones and those of one run oldest first, others newest first. `after` is the
        `(asked_at, id)` of the last one on the page before."""
        found: list[Approval] = []
        cursor = None if after is None else cursor_of(*after)
        while len(found) < limit:
            size = min(_PAGE, limit - len(found))
            query = {"namespace": namespace, "run": run_id, "status": status, "cursor": cursor, "limit": size}
            page = await self._transport.get(self._transport.path("approvals"), ApprovalPage, query)
            found += map(approval_of, page.approvals)
            if (cursor := page.next) is None:
                break
        return found

    async def get(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> Approval:
        """Returns an approval, open or decided."""
        path = self._transport.path("approvals", id)
        return approval_of(await self._transport.get(path, ApprovalShape, {"namespace": namespace}))

    async def decide(
        self,
        id: str,
        decision: str,
        *,
        by: str = "",
        comment: str = "",
        data: Any = None,
        evidence_hash: str = "",
        namespace: str = DEFAULT_NAMESPACE,
    ) -> Approval:
        """Votes on an approval; durable when this returns. The server records the name of the key with it."""
        if by and self._keyed:
            raise InvalidInput(
                "client.answers_by_key",
                "a server does not accept the name of who decides",
                why="it records the name of the key",
                fix="leave the name out, or use a key of that person",
            )
        path = self._transport.path("approvals", id, "decide")
        body = {"decision": decision, "comment": comment, "data": data, "by": by or None}
        body["evidence_hash"] = evidence_hash or None
        await self._transport.post(path, Decided, body, {"namespace": namespace})
        return await self.get(id, namespace)

    async def delegate(
        self, id: str, to: str, *, by: str = "", comment: str = "", namespace: str = DEFAULT_NAMESPACE
    ) -> Approval:
        """Delegates a vote to someone else, who then decides instead. The vote is that of the key, or of `by` with an
        administrator's key."""
        path = self._transport.path("approvals", id, "delegate")
        body = {"to": to, "by": by or None, "comment": comment}
        return approval_of(await self._transport.post(path, ApprovalShape, body, {"namespace": namespace}))
