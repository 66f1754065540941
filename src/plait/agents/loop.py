"""The loop of an agent: ask the model, make its tool calls, ask again, until it answers.

Each reply and each tool result is in the journal before the next step. So an attempt that is restarted reads its
position and pays for nothing twice. It ends with an `Ended` entry, even when it fails; then only the report is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.events import AgentFinished, AgentToolDenied, AgentUsage, AttemptEvent
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, caller_id
from plait.kernel.journal import Suspended, TimeWait
from plait.kernel.task import Attempt, Task
from plait.kernel.task_inputs import ROUTE, AgentInput

from . import prompt
from .answer import BadAnswer, read_answer
from .booking import Bookings
from .call_keys import CallKeys
from .conversation import Conversation
from .entries import AnyEntry, Begun, Ended, FedBack, Replied, ToolDone, Waiting
from .failure import AgentFailure, model_broke, model_failure, unforeseen
from .model import Model, ModelError, ModelReply, ModelRequest, ToolCall
from .rights import allowed_tools
from .services import AgentServices
from .time_limit import within
from .tool_calls import Outcome, ToolCalls, Wanted
from .tools.built_in import OFFERED
from .tools.tool import ToolUse
from .tools.toolbox import Offer
from .turn_key import TurnKey, job_id
from .watch import TurnFacts

MOST_BAD: Final = 2
"""Mistakes reported back to the model in one attempt; the next one ends it."""
_MOST_RESTS: Final = 20
"""Waits per turn for a rate-limited model."""


class AgentLoop:
    def __init__(self, wanted: AgentInput, task: Task, attempt: Attempt, model: Model, services: AgentServices) -> None:
        self._wanted = wanted
        self._label = wanted.node_id or task.label
        self._attempt = attempt
        self._model = model
        self._services = services
        self._clock = services.clock
        self._talk = Conversation.of(attempt.journal)
        self._namespace = attempt.run_id.rpartition("/")[0] or DEFAULT_NAMESPACE
        self._beginning = prompt.messages(wanted, attempt.error)
        self._schema = prompt.answer_schema(wanted)
        self._number = self._talk.began_as or attempt.number
        """The attempt that began the conversation: whoever continues it uses the same idempotency keys."""
        self._keys = CallKeys(wanted, attempt.run_id, self._number, self._talk, services.first_calls)
        self._deadline = self._clock.monotonic() + wanted.timeout - self._talk.worked_ms / 1000

    async def run(self) -> Any | Suspended:
        """The result of the task, or what it waits for. Raises a `TaskError`."""
        if self._talk.ended is None:
            try:
                await self._prepare()
                while (found := await self._step()) is None:
                    pass
                if isinstance(found, Suspended):
                    return found
                await self._end(found)
            except AgentFailure as failure:
                await self._fail(failure)
            except Exception as error:  # a bug, or something the attempt needs is gone: recorded like any failure
                await self._fail(unforeseen(error))
        return self._result()

    async def _prepare(self) -> None:
        """Prepares what stays the same for the whole attempt."""
        policy = await self._services.policy(self._namespace)
        allowed = allowed_tools(self._wanted, policy.allowed_tools)
        self._bookings = Bookings(self._wanted, self._attempt.run_id, self._namespace, self._services, policy.budget)
        offer = await self._offer(allowed)
        self._tools = (*OFFERED, *offer.offered)
        self._calls = ToolCalls(self._wanted, self._services, offer, allowed)
        if self._is_new():
            await self._begin(offer)
        self._bookings.check_price()

    def _is_new(self) -> bool:
        """Also true if the model or prompt has changed since it began, which a fork may do: the record then shows
        it."""
        begun = self._talk.begun
        if begun is None:
            return True
        now = self._wanted.model, prompt.hash_of(self._beginning)
        return self._talk.waiting is None and (begun.model, begun.prompt_hash) != now

    async def _offer(self, allowed: list[str]) -> Offer:
        begun = self._talk.begun
        return await self._services.toolbox.offer(self._namespace, allowed, None if begun is None else begun.tools)

    async def _begin(self, offer: Offer) -> None:
        size = prompt.size_of(self._beginning)
        kept = self._services.keep_prompts and size <= prompt.MOST_BYTES
        begun = Begun(
            self._wanted.node_id,
            job_id(self._wanted, self._attempt.run_id, self._number),
            self._wanted.model,
            self._clock.now(),
            self._wanted.max_turns,
            offer.names,
            prompt.hash_of(self._beginning),
            self._beginning[-1].content if kept else None,
            self._wanted.instructions if kept else "",
            self._wanted.execution,
            self._number,
        )
        await self._keep(begun, turn=self._talk.turn + 1)
        if size > prompt.MOST_BYTES:
            text = f"the prompt of `{self._label}` has {size:,} bytes, {prompt.MOST_BYTES:,} are allowed"
            raise AgentFailure("agent.prompt_too_large", text, retryable=False)

    async def _step(self) -> Ended | Suspended | None:
        """Makes one model call or one tool call, or ends the attempt."""
        talk = self._talk
        if talk.waiting is not None and talk.waiting.kind == "time":
            return self._rest(talk.waiting)
        if (call := talk.call) is not None:
            return await self._tool_call(*call)
        if (reply := talk.final) is not None:
            return await self._finish(reply)
        if talk.turn >= self._wanted.max_turns:
            text = f"`{self._label}` has no answer after {talk.turn} turns"
            raise AgentFailure("agent.max_turns", text, retryable=False)
        return await self._ask()

    # -- the model -------------------------------------------------------------------------------------------------

    async def _ask(self) -> Suspended | None:
        turn, began = self._talk.turn + 1, self._clock.monotonic()
        request = self._request(turn)
        booking = await self._bookings.reserve(request)
        try:
            with self._services.watch.turn(self._facts(turn)) as watch:
                reply = await self._complete(request)
                cost = self._services.prices.cost(reply.usage, self._wanted.model, reply.model)
                watch.replied(reply, cost)
        except ModelError as error:
            await booking.release()
            return await self._refused(error, turn, self._since(began))
        except BaseException:
            await booking.release()
            raise
        await booking.book(reply.usage.input + reply.usage.output, cost)
        entry = Replied(
            turn,
            self._clock.now(),
            self._since(began),
            reply.text,
            _numbered(reply.tool_calls),
            reply.finish,
            reply.usage,
            cost,
            reply.model,
        )
        await self._keep(entry, turn=turn)
        return None

    async def _complete(self, request: ModelRequest) -> ModelReply:
        try:
            return await within(self._clock, request.timeout, self._model.complete(request))
        except TimeoutError:
            raise self._too_long() from None
        except ModelError:
            raise
        except Exception as error:
            raise model_broke(self._wanted.model, error) from error

    async def _refused(self, error: ModelError, turn: int, took: int) -> Suspended:
        """Waits if the model says when to retry; otherwise fails the attempt."""
        if error.kind != "rate_limited" or error.retry_after is None or self._talk.rests >= _MOST_RESTS:
            raise model_failure(self._wanted.model, error)
        until = Millis(self._clock.now() + max(1, round(error.retry_after * 1000)))
        waiting = Waiting("time", turn, until=until, ms=took)
        await self._keep(waiting, turn=turn)
        return self._rest(waiting)

    def _rest(self, waiting: Waiting) -> Suspended:
        until = waiting.until or self._clock.now()
        clock = datetime.fromtimestamp(until / 1000, UTC).strftime("%H:%M:%S")
        return Suspended(TimeWait(until), f"model `{self._wanted.model}` rate limited until {clock}")

    def _request(self, turn: int) -> ModelRequest:
        wanted = self._wanted
        left = self._left()
        return ModelRequest(
            model=wanted.model,
            messages=[*self._beginning, *self._talk.said],
            tools=self._tools,
            temperature=wanted.temperature,
            max_tokens=wanted.max_tokens,
            answer_schema=self._schema,
            cache_points=prompt.cache_points(wanted),
            timeout=left,
            key=TurnKey.of(wanted, self._attempt.run_id, self._number, turn).text(),
        )

    def _left(self) -> float:
        """Seconds of working time left."""
        left = self._deadline - self._clock.monotonic()
        if left <= 0:
            raise self._too_long()
        return left

    def _since(self, began: float) -> int:
        return round((self._clock.monotonic() - began) * 1000)

    def _too_long(self) -> AgentFailure:
        text = f"`{self._label}` took longer than {self._wanted.timeout:g} s"
        return AgentFailure("agent.timeout", text, retryable=True)

    # -- tools -----------------------------------------------------------------------------------------------------

    async def _tool_call(self, index: int, call: ToolCall) -> Suspended | None:
        turn, left, began = self._talk.turn, self._left(), self._clock.monotonic()
        use = await self._use(turn, index, call)
        try:
            found = await within(self._clock, left, self._calls.make(call, use, self._talk))
        except TimeoutError:
            raise self._too_long() from None
        if isinstance(found, Wanted):
            if self._talk.waiting is None:
                await self._keep(Waiting(found.kind, turn, index, call.name), turn=turn)
            return found.suspended
        took = self._since(began)
        if found.denied:
            await self._calls.denied(call, use, found.denied)
        await self._tool_done(turn, index, call, found, took)
        if self._talk.bad > MOST_BAD:
            raise AgentFailure("agent.bad_answer", f"`{self._label}`: {found.error}", retryable=True)
        return None

    async def _tool_done(self, turn: int, index: int, call: ToolCall, found: Outcome, took: int) -> None:
        status = "denied" if found.denied else "failed" if found.error else "completed"
        self._services.watch.tool_called(self._facts(turn), call.name, status)
        entry = ToolDone(
            turn,
            index,
            call.name,
            self._clock.now(),
            took,
            found.result,
            found.data,
            found.ref,
            found.error,
            found.bad,
            bool(found.denied),
        )
        events: tuple[AttemptEvent, ...] = ()
        if found.denied:
            events = (
                AgentToolDenied(
                    self._attempt.task.token, self._wanted.node_id, self._attempt.number, call.name, found.denied
                ),
            )
        last = index + 1 == len(self._talk.replies[-1].tool_calls)
        await self._keep(entry, turn=turn + last, events=events)

    async def _use(self, turn: int, index: int, call: ToolCall) -> ToolUse:
        wanted = self._wanted
        return ToolUse(
            namespace=self._namespace,
            run_id=caller_id(self._attempt.run_id),
            node_id=wanted.node_id,
            key=await self._keys.of(turn, index, call),
            payload=values.decode(wanted.payload),
            session_id=wanted.session_id or caller_id(self._attempt.run_id),
        )

    # -- the end ---------------------------------------------------------------------------------------------------

    async def _finish(self, reply: Replied) -> Ended | None:
        try:
            answer = read_answer(reply.text, reply.finish, self._schema)
            output = self._whole(answer.output)
        except BadAnswer as problem:
            if self._talk.bad >= MOST_BAD:
                raise AgentFailure("agent.bad_answer", f"`{self._label}`: {problem}", retryable=True) from None
            await self._keep(FedBack(reply.turn, str(problem)), turn=reply.turn + 1)
            return None
        warnings: list[str] = []
        targets = answer.next_nodes
        if self._wanted.next_nodes is None and targets is not None:
            warnings.append("next_nodes was ignored: the node has no `agent_driven` branch")
            targets = None
        return Ended(self._clock.now(), "completed", output, targets, answer.reasoning, warnings=warnings)

    def _whole(self, output: Any) -> Raw:
        """An output that is only a reference to a result stands for that result."""
        fields = cast("dict[str, Any]", output) if isinstance(output, dict) else {}
        if list(fields) == ["result_ref"] and (found := self._talk.results.get(str(fields["result_ref"]))) is not None:
            return found
        try:
            return values.encode(cast("Any", output))
        except PlaitError as error:
            raise BadAnswer(f"the output can't be kept: {error.what}") from None

    async def _fail(self, failure: AgentFailure) -> None:
        await self._end(Ended(self._clock.now(), "failed", error=failure.info, retryable=failure.retryable))

    async def _end(self, ended: Ended) -> None:
        talk, usage = self._talk, self._talk.usage
        finished = AgentFinished(
            self._attempt.task.token,
            self._wanted.node_id,
            self._attempt.number,
            ended.status,
            self._wanted.model,
            talk.turn,
            talk.tool_calls,
            AgentUsage(usage.input, usage.output, usage.cached),
            talk.cost_usd,
            usage.cached > 0,
            ended.error,
        )
        await self._keep(ended, turn=None, events=(finished,))

    def _result(self) -> Any:
        ended = self._talk.ended
        if ended is None:
            raise AssertionError("it has not ended")
        if ended.error is not None:
            raise AgentFailure(ended.error.code, ended.error.message, retryable=ended.retryable).task_error()
        if self._wanted.next_nodes is None:
            return ended.output
        return {ROUTE: {"output": ended.output, "next_nodes": ended.next_nodes, "reasoning": ended.reasoning}}

    # -- its journal -------------------------------------------------------------------------------------------------

    async def _keep(self, entry: AnyEntry, *, turn: int | None, events: tuple[AttemptEvent, ...] = ()) -> None:
        """`turn`: the current turn from now on."""
        most = self._wanted.max_turns
        says = "" if turn is None else f"agent `{self._label}`: turn {min(turn, most)} of {most}"
        await self._attempt.keep(Raw(values.plain(entry)), says=says, events=events)
        self._talk.add(entry)

    def _facts(self, turn: int) -> TurnFacts:
        wanted = self._wanted
        return TurnFacts(
            self._attempt.run_id,
            wanted.workflow_tag,
            wanted.node_id,
            wanted.model,
            turn,
            self._attempt.number,
            wanted.max_tokens,
            wanted.temperature,
        )


def _numbered(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Creates missing ids and replaces duplicates: a result must be matched to its call."""
    ids = [call.id for call in calls]
    if all(ids) and len(set(ids)) == len(ids):
        return list(calls)
    return [ToolCall(f"call_{index}", call.name, call.arguments) for index, call in enumerate(calls)]
