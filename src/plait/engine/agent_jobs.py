"""Agents as jobs for workers that have their own loop and speak no task protocol: on Redis.

The reports of such a worker are written into the journal here, so that records, budgets and events cover it like any
agent. A worker that reports its turns as it goes may be lost at any time: the next job has its journal.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from plait.agents import prompt
from plait.agents.conversation import Conversation
from plait.agents.entries import AnyEntry, Begun, Ended, Replied
from plait.agents.job import JobResult, job_of, output_flaws
from plait.agents.model import ToolCall
from plait.agents.prices import Prices
from plait.agents.tokens import tokens_in
from plait.api.claim_id import ClaimId, read
from plait.api.task import QueueTask, TaskFailure, TaskReport
from plait.kernel import task_payload, values
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import AgentFinished, AgentUsage, AttemptEvent
from plait.kernel.ids import TaskToken
from plait.kernel.kernel import Kernel
from plait.kernel.queued import HeldTask
from plait.kernel.task_inputs import ROUTE, AgentInput

from .agent_attempts import AgentAttempts
from .queues import Queues
from .task_journals import past_of

_input = msgspec.json.Decoder(AgentInput)


class AgentJobs:
    def __init__(
        self, kernel: Kernel, queues: Queues, attempts: AgentAttempts, prices: Prices, *, keep_prompts: bool
    ) -> None:
        self._kernel = kernel
        self._queues = queues
        self._attempts = attempts
        self._prices = prices
        self._keep_prompts = keep_prompts

    async def job(self, task: QueueTask) -> dict[str, Any] | None:
        """The job to send to a worker; None if nothing is left to do, after reporting that."""
        wanted = _input.decode(values.plain(task.input))
        claim = read(task.id, task.namespace)
        attempt = _Attempt(self._queues, claim, wanted, _conversation(task.journal), len(task.journal))
        if attempt.talk.ended is None:
            if attempt.talk.begun is None or attempt.talk.begun.job_id != claim.job_id():
                await attempt.keep(self._begun(task, claim, wanted, attempt.talk))
            if reason := await self._refusal(task.id, task.namespace, wanted):
                error = ErrorInfo("agent.budget_exceeded", reason, kind="agent")
                await attempt.end(Ended(self._kernel.clock.now(), "failed", error=error))
        if attempt.talk.ended is not None:
            await self._queues.report([attempt.report()], namespace=task.namespace)
            return None
        allowed = (await self._attempts.terms(task.id, namespace=task.namespace)).allowed_tools
        journal = [*task.journal, *attempt.kept]
        sent = msgspec.structs.replace(task, journal=journal)
        return job_of(sent, claim, wanted, allowed, self._kernel.clock.now())

    async def keep(self, held: HeldTask, index: int, entry: Any, says: str) -> dict[str, Any]:
        """Adds to the journal of a job in flight. Returns whether its worker may call its model again."""
        id, namespace = ClaimId.of(held.task, held.claim or "").text(), held.task.namespace
        await self._queues.keep(id, index, entry, says=says, namespace=namespace)
        reason = await self._refusal(id, namespace, await self._wanted(held))
        return {"index": index + 1, "granted": not reason, "reason": reason}

    async def ended(self, held: HeldTask, result: JobResult) -> TaskReport:
        """The report of a job that ended, after recording the end in its journal. Idempotent."""
        entries, _ = await past_of(self._kernel, held.task)
        claim, wanted = ClaimId.of(held.task, held.claim or ""), await self._wanted(held)
        attempt = _Attempt(self._queues, claim, wanted, _conversation(entries), len(entries))
        if attempt.talk.ended is None:
            if not attempt.talk.replies:
                await attempt.keep(self._replied(wanted, result))
            await attempt.end(self._end_of(wanted, result, attempt.talk))
        return attempt.report()

    # -- entries -----------------------------------------------------------------------------------------------------

    def _begun(self, task: QueueTask, claim: ClaimId, wanted: AgentInput, talk: Conversation) -> Begun:
        beginning = prompt.messages(wanted, None if task.last_error is None else task.last_error.info())
        return Begun(
            wanted.node_id,
            claim.job_id(),
            wanted.model,
            self._kernel.clock.now(),
            wanted.max_turns,
            (),
            prompt.hash_of(beginning),
            beginning[-1].content if self._keep_prompts else None,
            wanted.instructions if self._keep_prompts else "",
            wanted.execution,
            talk.began_as or task.attempt,
        )

    def _replied(self, wanted: AgentInput, result: JobResult) -> Replied:
        """A single reply for all turns, if none were reported. The cost is known only if the usage is reported."""
        told = result.metadata
        cost = None if told.usage is None else self._prices.cost(told.tokens, wanted.model, told.llm_model)
        now, took = self._kernel.clock.now(), told.execution_time_ms
        return Replied(1, now, took, finish="stop", usage=told.tokens, cost_usd=cost, model=told.llm_model)

    def _end_of(self, wanted: AgentInput, result: JobResult, talk: Conversation) -> Ended:
        now = self._kernel.clock.now()
        calls = [ToolCall(f"call_{n}", each.tool, each.args) for n, each in enumerate(result.metadata.tool_calls)]
        calls = [] if talk.tool_calls else calls
        if result.status == "failed":
            text = result.error.message or "the worker gave no reason"
            error = ErrorInfo("agent.failed", text, kind="agent", type=result.error.type)
            return Ended(now, "failed", error=error, retryable=result.error.retryable, calls=calls)
        if flaws := output_flaws(wanted, result.output):
            error = ErrorInfo("agent.bad_answer", f"`{wanted.node_id}`: {flaws}", kind="agent")
            return Ended(now, "failed", error=error, retryable=True, calls=calls)
        targets = result.next_nodes if wanted.next_nodes is not None else None
        ignored = result.next_nodes is not None and wanted.next_nodes is None
        warnings = ["next_nodes was ignored: the node has no `agent_driven` branch"] if ignored else []
        return Ended(now, "completed", result.output, targets, result.reasoning, warnings=warnings, calls=calls)

    # -- what is known of it -----------------------------------------------------------------------------------------

    async def _refusal(self, id: str, namespace: str, wanted: AgentInput) -> str:
        """Why it may not call its model. The size of the next request is unknown here, except for its prompt."""
        size = tokens_in(len(wanted.prompt) + len(bytes(wanted.payload)))
        price = self._prices.of(wanted.model)
        cost = None if price is None else price.most(size, wanted.max_tokens)
        found = await self._attempts.reserve(id, size + wanted.max_tokens, cost, namespace=namespace)
        return found.reason

    async def _wanted(self, held: HeldTask) -> AgentInput:
        task = held.task
        return _input.decode(values.plain(await task_payload.whole(self._kernel.store, task.input, task.blobs)))


class _Attempt:
    """An attempt whose journal is written here."""

    def __init__(self, queues: Queues, claim: ClaimId, wanted: AgentInput, talk: Conversation, size: int) -> None:
        self._queues = queues
        self._claim = claim
        self._wanted = wanted
        self._size = size
        self.talk = talk
        self.kept: list[Any] = []

    async def keep(self, entry: AnyEntry, *, events: tuple[AttemptEvent, ...] = ()) -> None:
        plain = values.decode(Raw(values.plain(entry)))
        namespace, most = self._claim.namespace, self._wanted.max_turns
        where = f"agent `{self._wanted.node_id}`: turn {self.talk.turn + 1} of {most}"
        says = "" if isinstance(entry, Ended) else where
        told = [values.decode(Raw(values.plain(each))) for each in events]
        index = self._size + len(self.kept)
        await self._queues.keep(self._claim.text(), index, plain, says=says, events=told, namespace=namespace)
        self.kept.append(plain)
        self.talk.add(entry)

    async def end(self, ended: Ended) -> None:
        talk, usage = self.talk, self.talk.usage
        finished = AgentFinished(
            TaskToken(self._claim.token),
            self._wanted.node_id,
            self._claim.attempt,
            ended.status,
            self._wanted.model,
            talk.turn,
            talk.tool_calls + len(ended.calls),
            AgentUsage(usage.input, usage.output, usage.cached),
            talk.cost_usd,
            usage.cached > 0,
            ended.error,
        )
        await self.keep(ended, events=(finished,))

    def report(self) -> TaskReport:
        ended, id = self.talk.ended, self._claim.text()
        if ended is None:
            raise AssertionError("it has not ended")
        if ended.error is not None:
            return TaskReport(id=id, error=TaskFailure.of(ended.error), retryable=ended.retryable)
        if self._wanted.next_nodes is None:
            return TaskReport(id=id, output=ended.output)
        route = {"output": ended.output, "next_nodes": ended.next_nodes, "reasoning": ended.reasoning}
        return TaskReport(id=id, output={ROUTE: route})


def _conversation(entries: list[Any]) -> Conversation:
    return Conversation.of([Raw(values.plain(each)) for each in entries])
