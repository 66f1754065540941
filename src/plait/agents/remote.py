"""An agent whose engine is in another process: it uses this process's models and tools, within what its engine allows.

Budgets are reserved at the engine before each call. Its actual use is booked there with the journal entry, so nothing
is booked here.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from plait.api.agent_task import AgentTerms, OfferedWorkflow
from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import Busy, Unavailable
from plait.kernel.ids import NEVER, RunId
from plait.kernel.values import decode, encode

from .budgets import Claim
from .call_keys import Place
from .desk import AgentDesk
from .failure import AgentFailure
from .ledger import Booking, Spender
from .promotion.promoted_tools import PipelineTool, RunPipeline
from .promotion.tool_log import PromotedTool
from .services import AgentPolicy, OpenPolicy
from .tools.names import AllowedTools
from .tools.patch_workflow import Operations
from .tools.tool import ToolFault, ToolUse
from .tools.toolbox import AnyTool
from .tools.workflow_tool import WorkflowTool

log = logging.getLogger("plait.agents")

T = TypeVar("T")

_FIRST_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 5.0


class RemoteAttempt:
    """One attempt, seen from its worker: its policy, its ledger, its tools and its patches."""

    def __init__(self, desk: AgentDesk, id: str, namespace: str, clock: Clock, run_pipeline: RunPipeline) -> None:
        self._desk = desk
        self._id = id
        self._namespace = namespace
        self._clock = clock
        self._run_pipeline = run_pipeline
        self._known: AgentTerms | None = None
        """Already fetched for the policy; the tools, which are asked for next, are in it."""
        self._auto_apply = False

    # -- policy ----------------------------------------------------------------------------------------------------

    async def policy(self, namespace: str) -> AgentPolicy:
        """The daily budget stays with the engine."""
        found = self._known = await self._terms()
        return OpenPolicy(allowed_tools=tuple(found.allowed_tools), auto_apply=found.auto_apply)

    async def _terms(self) -> AgentTerms:
        found = await self._insist(lambda: self._desk.terms(self._id, namespace=self._namespace))
        self._auto_apply = found.auto_apply
        return found

    # -- budgets ---------------------------------------------------------------------------------------------------

    async def reserve(self, spender: Spender, claim: Claim) -> Booking:
        found = await self._insist(
            lambda: self._desk.reserve(self._id, claim.tokens, claim.cost_usd, namespace=self._namespace)
        )
        if not found.granted:
            raise AgentFailure("agent.budget_exceeded", found.reason, retryable=False)
        return _BookedElsewhere()

    # -- tools -----------------------------------------------------------------------------------------------------

    async def tools(self, namespace: str, allowed: AllowedTools) -> Sequence[AnyTool]:
        terms, self._known = self._known or await self._terms(), None
        pipelines = [
            PipelineTool(PromotedTool(each.name, "", 0, each.steps, NEVER), self._run_pipeline)
            for each in terms.pipelines
        ]
        return [*pipelines, *map(_workflow, terms.workflows)]

    async def first_calls(self, run_id: RunId, execution: str) -> Mapping[Place, str]:
        found = (self._known or await self._terms()).first_calls
        places = {tuple(map(int, place.split("/"))): digest for place, digest in found.items()}
        return {(turn, index): digest for (turn, index), digest in places.items()}

    # -- patches ---------------------------------------------------------------------------------------------------

    async def patch_run(self, use: ToolUse, operations: Operations) -> int:
        return int((await self._patched())["revision"])

    async def save(self, use: ToolUse, name: str, operations: Operations, description: str) -> str:
        return str((await self._patched())["version"])

    async def deny(self, use: ToolUse, operations: Operations, reason: str) -> None:
        await self._insist(lambda: self._desk.patch(self._id, denied=reason, namespace=self._namespace))

    async def auto_applies(self, namespace: str) -> bool:
        return self._auto_apply

    async def _patched(self) -> dict[str, Any]:
        """The engine reads the operations from the journal."""
        made = await self._insist(lambda: self._desk.patch(self._id, namespace=self._namespace))
        if made.error:
            raise ToolFault(made.error)
        return decode(encode(made.result), dict[str, Any])

    async def _insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Retries while the engine is unreachable: all of these calls may be sent twice."""
        pause = _FIRST_PAUSE
        while True:
            try:
                return await call()
            except (Unavailable, Busy) as error:
                log.warning("the engine can't be asked for now, will try again in %.1f s: %s", pause, error)
                await sleep(self._clock, pause)
                pause = min(pause * 2, _LONGEST_PAUSE)


class _BookedElsewhere:
    async def book(self, tokens: int, cost_usd: float | None) -> None:
        pass

    async def release(self) -> None:
        pass


def _workflow(offered: OfferedWorkflow) -> WorkflowTool:
    return WorkflowTool(
        name=offered.name,
        description=offered.description,
        parameters=offered.parameters,
        dialect=offered.dialect,
        reference=offered.reference,
        whole_input=offered.whole_input,
    )
