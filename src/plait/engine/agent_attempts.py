"""Requests to the engine by agents that run in other processes, and what it lets them write.

Each request proves a claim on the attempt. Its permissions come from its task and the namespace's policy, its next step
from its journal: a worker can't extend either.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import msgspec

from plait.agents.budgets import Claim
from plait.agents.call_keys import CallKeys, Place
from plait.agents.conversation import Conversation
from plait.agents.entries import AnyEntry, ToolDone, decode_entry
from plait.agents.failure import AgentFailure
from plait.agents.ledger import EngineLedger, Spender
from plait.agents.model import ToolCall
from plait.agents.pipelines.errors import InvalidPipeline
from plait.agents.pipelines.reading import read as read_pipeline
from plait.agents.promotion.pipeline_uses import PipelineUses
from plait.agents.promotion.promoted_tools import PromotedTools
from plait.agents.promotion.promotions import Promotions
from plait.agents.rights import allowed_tools
from plait.agents.services import AgentPolicy, AgentServices
from plait.agents.tool_calls import Outcome, ToolCalls
from plait.agents.tools.names import WORKFLOW, AllowedTools
from plait.agents.tools.tool import ToolUse
from plait.agents.tools.toolbox import Offer
from plait.agents.tools.workflow_tool import WorkflowTools
from plait.api.agent_task import AgentTerms, MadePatch, OfferedPipeline, OfferedWorkflow, ReservedCall
from plait.api.claim_id import ClaimId, read, unknown_task
from plait.definitions.definitions import Definitions
from plait.kernel import task_payload, values
from plait.kernel.errors import Conflict, InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, caller_id
from plait.kernel.journal import AnyWait, ChildWait
from plait.kernel.kernel import Kernel
from plait.kernel.queued import HeldTask
from plait.kernel.task_inputs import AGENT, AgentInput

from .agent_bookings import AgentBookings
from .lost_claims import lost
from .task_journals import past_of

_PATCH = "patch_workflow"
_decode_input = msgspec.json.Decoder(AgentInput).decode


class AgentAttempts:
    def __init__(
        self,
        kernel: Kernel,
        services: AgentServices,
        ledger: EngineLedger,
        promotions: Promotions,
        definitions: Definitions,
    ) -> None:
        self._kernel = kernel
        self._services = services
        self._promotions = promotions
        self._uses = PipelineUses(promotions, services.policy)
        self._workflows = WorkflowTools(definitions)
        self._bookings = AgentBookings(ledger, kernel.store)

    # -- what a worker asks ----------------------------------------------------------------------------------------

    async def terms(
        self, id: str, *, namespace: str = DEFAULT_NAMESPACE, queues: Collection[str] | None = None
    ) -> AgentTerms:
        """What the attempt may use now. `queues`: those that the worker may serve, if not all."""
        claim, held = await self._held(id, namespace, queues)
        wanted, policy = await self._input(held), await self._policy(namespace)
        allowed = allowed_tools(wanted, policy.allowed_tools)
        known = AllowedTools(allowed)
        promoted = await PromotedTools(self._promotions, _nothing).tools(namespace, known)
        return AgentTerms(
            id=id,
            allowed_tools=allowed,
            auto_apply=policy.auto_apply,
            first_calls=await self._first_calls(claim, wanted),
            pipelines=[OfferedPipeline(name=each.name, steps=each.promoted.steps) for each in promoted],
            workflows=[
                OfferedWorkflow(**{name: getattr(each, name) for name in each.__struct_fields__})
                for each in await self._workflows.tools(namespace, known)
            ],
        )

    async def reserve(
        self,
        id: str,
        tokens: int,
        cost_usd: float | None,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> ReservedCall:
        """Reserves a model call in all budgets that it counts towards, until the next entry is kept."""
        claim, held = await self._held(id, namespace, queues)
        budget = (await self._policy(namespace)).budget
        spender = Spender.of(await self._input(held), claim.run_id, namespace, budget)
        try:
            await self._bookings.reserve(claim, spender, Claim(tokens, cost_usd))
        except AgentFailure as failure:
            return ReservedCall(id=id, granted=False, reason=failure.message)
        return ReservedCall(id=id, granted=True)

    async def patch(
        self,
        id: str,
        *,
        denied: str = "",
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> MadePatch:
        """Executes the call of `patch_workflow` that comes next in the journal, within the attempt's permissions.
        Idempotent."""
        _, held = await self._held(id, namespace, queues)
        wanted, talk = await self._input(held), await self._conversation(held)
        index, call = talk.call or (0, ToolCall("", "", None))
        if call.name != _PATCH:
            raise Conflict(
                "task.no_such_call",
                f"the journal does not have a call of `{_PATCH}` next",
                fix="keep the reply of the model first",
            )
        use = await self._use(held, wanted, talk, (talk.turn, index), call)
        allowed = allowed_tools(wanted, (await self._policy(namespace)).allowed_tools)
        calls = ToolCalls(wanted, self._services, Offer(()), allowed)
        made = Outcome(denied=denied, error=denied) if denied else await calls.make(call, use, talk)
        if not isinstance(made, Outcome):
            return MadePatch(id=id, error="a person has to approve this first")
        if made.denied:
            await calls.denied(call, use, made.denied)
        return MadePatch(id=id, result=values.decode(made.result), error=made.error)

    # -- what a worker writes --------------------------------------------------------------------------------------

    async def keeping(self, claim: ClaimId, entry: values.Raw) -> None:
        """Rejects invalid entries, such as answers to what an attempt waits for: only the kernel writes those."""
        await self._bookings.settle(claim, _read(entry))

    async def kept(self, held: HeldTask, entry: values.Raw) -> None:
        """Counts an executed pipeline towards its promotion."""
        done = _read(entry)
        if not isinstance(done, ToolDone) or done.tool != "execute_pipeline" or done.error:
            return
        wanted, talk = await self._input(held), await self._conversation(held)
        calls = talk.replies[done.turn - 1].tool_calls if 0 < done.turn <= len(talk.replies) else ()
        if done.index < len(calls) and (pipeline := _pipeline_of(calls[done.index])) is not None:
            use = await self._use(held, wanted, talk, (done.turn, done.index), calls[done.index])
            await self._uses.told(use, pipeline)

    async def check_wait(self, held: HeldTask, wait: AnyWait) -> None:
        """Refuses child workflows that the agent may not use."""
        if not isinstance(wait, ChildWait):
            return
        policy = await self._policy(held.task.namespace)
        allowed = AllowedTools(allowed_tools(await self._input(held), policy.allowed_tools))
        name = str(wait.definition).partition("@")[0]
        if f"{WORKFLOW}:{name}" not in allowed:
            raise InvalidInput(
                "task.foreign_child",
                f"this agent may not start `{name[:200]}`",
                why="its node, its capabilities or the policy of the namespace do not name that workflow",
                fix=f"name `{WORKFLOW}:{name[:200]}` in the node's tools",
            )

    async def _use(
        self, held: HeldTask, wanted: AgentInput, talk: Conversation, place: Place, call: ToolCall
    ) -> ToolUse:
        run_id, number = held.task.run_id, talk.began_as or held.task.attempt
        keys = CallKeys(wanted, run_id, number, talk, self._services.first_calls)
        return ToolUse(
            namespace=held.task.namespace,
            run_id=caller_id(run_id),
            node_id=wanted.node_id,
            key=await keys.of(*place, call),
            payload=None,
        )

    async def _first_calls(self, claim: ClaimId, wanted: AgentInput) -> dict[str, str]:
        if claim.attempt == 1 and not wanted.generation:
            return {}
        found = await self._services.first_calls(claim.run_id, wanted.execution)
        return {f"{turn}/{index}": digest for (turn, index), digest in found.items()}

    # -- what is known of an attempt -------------------------------------------------------------------------------

    async def _held(self, id: str, namespace: str, queues: Collection[str] | None) -> tuple[ClaimId, HeldTask]:
        self._kernel.must_live()
        claim = read(id, namespace)
        rows = await self._kernel.store.queues.held(claim.run_id, claim.token)
        held = rows[0] if rows else None
        if held is not None and (held.task.kind != AGENT or (queues is not None and held.task.queue not in queues)):
            raise unknown_task()
        if held is None or (held.claim, held.task.opening) != (claim.claim, claim.opening):
            raise lost(held)
        return claim, held

    async def _input(self, held: HeldTask) -> AgentInput:
        task = held.task
        return _decode_input(values.plain(await task_payload.whole(self._kernel.store, task.input, task.blobs)))

    async def _conversation(self, held: HeldTask) -> Conversation:
        entries, _ = await past_of(self._kernel, held.task)
        return Conversation.of([values.Raw(values.plain(each)) for each in entries])

    async def _policy(self, namespace: str) -> AgentPolicy:
        return await self._services.policy(namespace)


def _read(entry: values.Raw) -> AnyEntry:
    try:
        return decode_entry(entry)
    except msgspec.ValidationError as error:
        raise InvalidInput("task.bad_entry", "`entry` can't be read", why=str(error)) from None


def _pipeline_of(call: ToolCall) -> Any:
    """The pipeline of a call; None if it can't have been executed."""
    arguments: Any = call.arguments
    if not isinstance(arguments, dict):
        return None
    pipeline: Any = cast("dict[str, Any]", arguments).get("pipeline")
    try:
        read_pipeline(pipeline)
    except InvalidPipeline:
        return None
    return pipeline


async def _nothing(pipeline: list[dict[str, Any]], use: ToolUse) -> Any:
    raise AssertionError("nobody runs it here")
