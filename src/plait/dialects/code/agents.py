"""`ctx.agent(...)`: a language model works on a payload, with tools. Recorded as a step without a user function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict, TypeVar

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.retry import Retry
from plait.kernel.task import Policy, Task
from plait.kernel.task_inputs import AGENT, AgentBudget, AgentInput
from plait.kernel.values import ABSENT

from .errors import WorkflowCodeError
from .events import OpOpened
from .op import Op
from .op_state import OpState
from .scope import Scope

T = TypeVar("T")

_REF: Final = "plait:agent"
_GRACE: Final = 10.0
"""Seconds that an agent has after its timeout to record its progress."""
_input = msgspec.json.Decoder(AgentInput)


class AgentOptions(TypedDict, total=False):
    """What an agent may use, and how it is retried."""

    instructions: str
    output_schema: Mapping[str, Any]
    tools: Sequence[str]
    temperature: float
    max_tokens: int
    max_turns: int
    timeout: float
    max_total_tokens: int
    max_cost_usd: float
    retry: Retry
    queue: str


class AgentOp(Op[T]):
    kind = "step"
    __slots__ = ("_input", "_policy", "_queue", "returns")

    def __init__(
        self, scope: Scope, name: str, prompt: str, payload: Any, model: str, returns: Any, options: AgentOptions
    ) -> None:
        Op.__init__(self, scope, name, 3)  # pyright: ignore[reportUnknownMemberType]
        if unknown := set(options) - AgentOptions.__optional_keys__:
            fix = f"use {', '.join(sorted(AgentOptions.__optional_keys__))}"
            raise WorkflowCodeError("BAD_OPTION", f"unknown option `{min(unknown)}`", fix=fix)
        self.returns = returns
        self._queue = options.get("queue")
        timeout = options.get("timeout", 300.0)
        self._policy = Policy(options.get("retry", Retry()), timeout + _GRACE, retry_on_timeout=True)
        try:
            encoded = values.encode(payload, scope.replay.around.max_payload)
        except PlaitError as error:
            raise WorkflowCodeError("NOT_ENCODABLE", f"the payload of agent `{name}`", why=str(error)) from None
        self._input = AgentInput(
            model=model,
            prompt=prompt,
            execution=self.at,
            node_id=self.at,
            payload=encoded,
            instructions=options.get("instructions", ""),
            output_schema=_schema(name, returns, options.get("output_schema")),
            tools=None if "tools" not in options else tuple(options["tools"]),
            temperature=options.get("temperature", 0.3),
            max_tokens=options.get("max_tokens", 4_096),
            max_turns=options.get("max_turns", 10),
            timeout=timeout,
            budget=AgentBudget(options.get("max_total_tokens"), options.get("max_cost_usd")),
            workflow_tag=scope.replay.around.info.definition,
            handler=f"model:{model}",
        )

    def opened(self) -> OpOpened:
        return OpOpened(self.at, "step", self.scope.replay.after, _REF, Raw(values.plain(self._input)))

    def begin(self, state: OpState) -> None:
        self.scope.replay.effect(self.task())

    def resume(self, state: OpState) -> None:
        """Resumes with the recorded input, whatever the code says now."""
        if state.args:
            self._input = _input.decode(state.args)

    def task(self) -> Task:
        replay, at = self.scope.replay, self.at
        key = f"{replay.run_id}:{at}:{replay.history.generation}"
        wanted = replace(self._input, execution=key)
        return Task(replay.token(at), f"agent `{at}`", AGENT, wanted, self._policy, key, at, self._queue)


def _schema(name: str, returns: Any, given: Mapping[str, Any] | None) -> Raw:
    """The JSON Schema of the output: as given, or derived from the Python type `returns`."""
    if given is not None:
        return values.encode(given)
    if returns is Any:
        return ABSENT
    try:
        return values.encode(msgspec.json.schema(returns))
    except TypeError as error:
        what = f"`returns` of agent `{name}` has no JSON Schema"
        raise WorkflowCodeError("BAD_OPTION", what, why=str(error), fix="give output_schema too") from None
