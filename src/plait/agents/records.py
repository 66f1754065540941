"""What agents did in a run, read from its events: a record for each attempt, turn by turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from plait.api.agent import (
    AgentDecision,
    AgentRecord,
    AgentRecords,
    AgentStatus,
    AgentTokens,
    AgentToolCall,
    AgentTurn,
    AgentUse,
    DeniedRoute,
    ToolStatus,
)
from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Recorded
from plait.kernel.ids import NEVER, Millis, RunId, TaskToken, caller_id
from plait.kernel.journal import SUSPENDED, child_of
from plait.kernel.run import letter_id

from .conversation import Conversation
from .entries import Begun, Ended, FedBack, Replied, ToolDone, Waiting, is_begun
from .model import ToolCall, Usage
from .preview import reference
from .prices import total

_STOPS: Final = ("task.retry_scheduled", "task.dead_lettered", "run.cancelled", "run.failed", "run.completed")


def agent_records(run_id: RunId, events: Iterable[Recorded]) -> AgentRecords:
    attempts: dict[tuple[str, int], _Attempt] = {}
    for event in events:
        place = str(event.data.get("token")), int(event.data.get("attempt", 0))
        if event.type == "task.journaled":
            if not event.data["index"] and is_begun(event.data.get("entry")):
                attempts[place] = _Attempt(run_id, *place)
            elif event.data["index"] and place not in attempts:
                _go_on(attempts, place)
            if (found := attempts.get(place)) is not None:
                found.journaled(event)
        elif event.type == "task.suspended" and (found := attempts.get(place)) is not None:
            found.says = event.data.get("says", "")
        elif event.type == "agent.route_denied":
            _deny(attempts.values(), event.data)
        elif event.type in _STOPS:
            _stop(attempts, event)
    records = [each.record() for each in attempts.values()]
    return AgentRecords(
        agents=records,
        tokens_used=sum(each.tokens_used for each in records),
        cost_usd=total(each.cost_usd for each in records) if records else None,
    )


def _go_on(attempts: dict[tuple[str, int], _Attempt], place: tuple[str, int]) -> None:
    """A worker was lost, and the next one continues its conversation under another number."""
    before = max((known for known in attempts if known[0] == place[0]), default=None)
    if before is not None:
        found = attempts[place] = attempts.pop(before)
        found.attempt = place[1]


def _deny(attempts: Iterable[_Attempt], data: dict[str, Any]) -> None:
    """The event names a node; it belongs to that node's latest attempt."""
    of_node = [each for each in attempts if each.node_id == data["node_id"]]
    if of_node:
        of_node[-1].denied_route = DeniedRoute(
            requested=data["requested"], denied=data["denied"], allowed=data["allowed"]
        )


def _stop(attempts: dict[tuple[str, int], _Attempt], event: Recorded) -> None:
    """Stops attempts in flight: the process was lost too often, the time was up, or the run has ended."""
    token, number = event.data.get("token"), event.data.get("attempt")
    for (of, attempt), found in attempts.items():
        if token is None or (of == token and number in (None, attempt)):
            found.stop(event)


class _Attempt:
    """One attempt, folded from its events."""

    def __init__(self, run_id: RunId, token: str, attempt: int) -> None:
        self._run_id = run_id
        self._token = token
        self.attempt = attempt
        self._talk = Conversation()
        self._turns: list[tuple[Replied, int]] = []
        self._done: dict[tuple[int, int], ToolDone] = {}
        self._waits: dict[tuple[int, int], tuple[Waiting, TaskToken]] = {}
        self._answers: dict[tuple[int, int], Any] = {}
        self._feedback: dict[int, str] = {}
        self._began = NEVER
        self.denied_route: DeniedRoute | None = None
        self.says = ""
        self._stopped: Recorded | None = None

    @property
    def node_id(self) -> str:
        return "" if self._talk.begun is None else self._talk.begun.node_id

    def stop(self, event: Recorded) -> None:
        if self._talk.ended is None and self._stopped is None:
            self._stopped = event

    @property
    def _status(self) -> AgentStatus:
        if self._talk.ended is not None:
            return self._talk.ended.status
        if self._stopped is not None:
            return "failed" if self._stopped.type.startswith("task.") else "cancelled"
        return "running" if self._talk.waiting is None else "waiting"

    @property
    def _error(self) -> ErrorInfo | None:
        if self._talk.ended is not None:
            return self._talk.ended.error
        if self._stopped is None or self._status != "failed":
            return None
        return msgspec.convert(self._stopped.data["error"], ErrorInfo)

    @property
    def _ended_at(self) -> Millis | None:
        if self._talk.ended is not None:
            return self._talk.ended.at
        return None if self._stopped is None else self._stopped.at

    def journaled(self, event: Recorded) -> None:
        raw, talk = values.encode(event.data.get("entry")), self._talk
        waiting = talk.waiting
        self.says = event.data.get("says", "")
        entry = talk.take(raw)
        if entry is None:
            if waiting is not None:
                self._answers[waiting.turn, waiting.index] = values.decode(raw)
            return
        match entry:
            case Begun():
                self._began = self._began if self._began != NEVER else entry.at
            case Replied():
                self._turns.append((entry, event.seq))
            case ToolDone():
                self._done[entry.turn, entry.index] = entry
            case FedBack():
                self._feedback[entry.turn] = entry.problem
            case Waiting():
                token = TaskToken(f"{SUSPENDED}{self._token}:{event.data['index'] + 1}")
                self._waits[entry.turn, entry.index] = entry, token
            case _:
                pass

    def record(self) -> AgentRecord:
        talk, begun, ended = self._talk, self._talk.begun, self._talk.ended
        assert begun is not None
        usage = talk.usage
        data = None if ended is None else values.decode(ended.output)
        last = max((reply.at for reply, _ in self._turns), default=self._began)
        return AgentRecord(
            result_id=f"{begun.job_id}:result",
            job_id=begun.job_id,
            run_id=caller_id(self._run_id),
            node_id=begun.node_id,
            token=self._token,
            attempt=self.attempt,
            status=self._status,
            model=begun.model,
            max_turns=begun.max_turns,
            prompt=begun.prompt,
            prompt_hash=begun.prompt_hash,
            instructions=begun.instructions,
            offered_tools=list(begun.tools),
            turns=[self._turn(reply, seq) for reply, seq in self._turns],
            waiting=self.says if self._ended_at is None else "",
            result_data=data,
            cas_id=None if ended is None or ended.status != "completed" else reference(ended.output),
            decision=_decision(ended),
            denied_route=self.denied_route,
            error=self._error,
            warnings=[] if ended is None else list(ended.warnings),
            tool_calls=[AgentUse(tool=call.name, args=call.arguments) for call in self._calls_made()],
            tokens_used=usage.input + usage.output,
            usage=_tokens(usage),
            cost_usd=talk.cost_usd,
            cache_hit=usage.cached > 0,
            execution_time_ms=(self._ended_at or last) - self._began,
            created_at=self._began,
            completed_at=self._ended_at,
        )

    def _calls_made(self) -> list[ToolCall]:
        ended = self._talk.ended
        made = [call for reply, _ in self._turns for call in reply.tool_calls]
        return made if ended is None else [*made, *ended.calls]

    def _turn(self, reply: Replied, seq: int) -> AgentTurn:
        return AgentTurn(
            turn=reply.turn,
            at=reply.at,
            ms=reply.ms,
            model=reply.model,
            text=reply.text,
            finish=reply.finish,
            tool_calls=[
                self._call(reply.turn, index, call.name, call.arguments) for index, call in enumerate(reply.tool_calls)
            ],
            usage=_tokens(reply.usage),
            cost_usd=reply.cost_usd,
            cache_hit=reply.usage.cached > 0,
            feedback=self._feedback.get(reply.turn, ""),
            seq=seq,
        )

    def _call(self, turn: int, index: int, tool: str, arguments: Any) -> AgentToolCall:
        done, waits = self._done.get((turn, index)), self._waits.get((turn, index))
        kind = waits[0].kind if waits is not None else None
        token = waits[1] if waits is not None else TaskToken("")
        answered = (turn, index) in self._answers
        status: ToolStatus = "waiting" if waits is not None and not answered else "running"
        error = ""
        if done is not None:
            status, error = "denied" if done.denied else "failed" if done.error else "completed", done.error
        elif self._ended_at is not None:
            status, error = "failed", "the attempt ended before this call did"
        return AgentToolCall(
            index=index,
            tool=tool,
            arguments=arguments,
            status=status,
            result=None if done is None else values.decode(done.result),
            result_ref="" if done is None else done.ref,
            error=error,
            ms=0 if done is None else done.ms,
            at=None if done is None else done.at,
            waits_for=kind if kind != "time" else None,
            approval_id=letter_id(self._run_id, token) if kind == "approval" else "",
            child_run_id=caller_id(child_of(self._run_id, token)) if kind == "child" else "",
            answer=self._answers.get((turn, index)),
        )


def _decision(ended: Ended | None) -> AgentDecision | None:
    if ended is None or (ended.next_nodes is None and not ended.reasoning):
        return None
    targets = None if ended.next_nodes is None else list(ended.next_nodes)
    return AgentDecision(next_nodes=targets, reasoning=ended.reasoning)


def _tokens(usage: Usage) -> AgentTokens:
    return AgentTokens(input=usage.input, output=usage.output, cached=usage.cached)
