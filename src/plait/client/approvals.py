"""Approvals on a server: the calls of `engine.approvals`."""

from __future__ import annotations

from typing import Any

from plait.api.approval import ApprovalList, Decided
from plait.api.transport import Transport
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.store import Question

from .records import question_of


class RemoteApprovals:
    """What runs ask people, and the decisions."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, namespace: str = DEFAULT_NAMESPACE, run_id: str | None = None) -> list[Question]:
        """Open approvals, oldest first; of all runs or of one."""
        query = {"namespace": namespace, "run": run_id}
        found = await self._transport.get(self._transport.path("approvals"), ApprovalList, query)
        return [question_of(approval) for approval in found.approvals]

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
        """Decides an approval; durable when this returns. The server records the name of the key with it."""
        if by:
            raise InvalidInput(
                "client.answers_by_key",
                "a server does not accept the name of who decides",
                why="it records the name of the key",
                fix="leave the name out, or use a key of that person",
            )
        path = self._transport.path("approvals", id, "decide")
        body = {"decision": decision, "comment": comment, "data": data}
        await self._transport.post(path, Decided, body, {"namespace": namespace})
