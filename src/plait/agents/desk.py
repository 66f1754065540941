"""What an agent in another process asks of the engine that owns its run."""

from __future__ import annotations

from typing import Protocol

from plait.api.agent_task import AgentTerms, MadePatch, ReservedCall


class AgentDesk(Protocol):
    """Each call carries the claim of the attempt, from which the engine derives what the agent may do."""

    async def terms(self, id: str, *, namespace: str) -> AgentTerms: ...

    async def reserve(self, id: str, tokens: int, cost_usd: float | None, *, namespace: str) -> ReservedCall: ...

    async def patch(self, id: str, *, denied: str = "", namespace: str) -> MadePatch: ...
