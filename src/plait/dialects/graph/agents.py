"""Nodes of the type `agent`: a language model is asked, and may choose where to go on.

A model is anything with a name and `complete`. What it may choose from is the node's `available_next_nodes`; whatever
else it names is refused when the answer is settled, and the attempt is tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

import msgspec

from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import ROUTE

from .running.tasks import CALL_AGENT, AgentInput

_decode = msgspec.json.Decoder().decode


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked."""

    prompt: str
    instructions: str
    payload: Any
    context: Mapping[str, Any]
    """What other nodes returned last, by their ids."""
    available_next_nodes: Sequence[str]
    output_schema: Mapping[str, Any] | None
    settings: Mapping[str, Any]
    """The node's `agent_config`."""
    node_id: str
    attempt: int
    idempotency_key: str


class ModelReply(msgspec.Struct, frozen=True):
    output: Any = None
    next_nodes: Sequence[str] | None = None
    reasoning: str = ""


class Model(Protocol):
    @property
    def name(self) -> str: ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...


class ScriptedModel:
    """Answers as it was told: in turn, or by a function of the request. For tests and demos."""

    def __init__(self, name: str, replies: Iterable[ModelReply] | Callable[[ModelRequest], ModelReply]) -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._answer = replies if callable(replies) else _in_turn(list(replies))

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        return self._answer(request)


def _in_turn(replies: list[ModelReply]) -> Callable[[ModelRequest], ModelReply]:
    def answer(request: ModelRequest) -> ModelReply:
        if not replies:
            raise TaskError("the script of this model has ended", retryable=False)
        return replies.pop(0)

    return answer


class Models:
    def __init__(self) -> None:
        self._known: dict[str, Model] = {}

    def add(self, model: Model) -> None:
        self._known[model.name] = model

    def get(self, name: str) -> Model | None:
        return self._known.get(name)

    @property
    def names(self) -> list[str]:
        return sorted(self._known)


def is_model(found: object) -> TypeGuard[Model]:
    return callable(getattr(found, "complete", None)) and isinstance(getattr(found, "name", None), str)


class AgentExecutor:
    kinds = (CALL_AGENT,)

    def __init__(self, models: Models) -> None:
        self._models = models

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: AgentInput = task.input
        model = self._models.get(wanted.model)
        if model is None:  # another process may have it, or this one later
            raise TaskError(f"no model `{wanted.model}`", retryable=True)
        return {ROUTE: await model.complete(_request(wanted, task, attempt))}


def _request(wanted: AgentInput, task: Task, attempt: Attempt) -> ModelRequest:
    config: dict[str, Any] = _decode(wanted.config)
    return ModelRequest(
        prompt=str(config.get("prompt") or task.label),
        instructions=str(config.get("instructions") or ""),
        payload=_decode(wanted.payload),
        context={node: _decode(output) for node, output in wanted.context.items()},
        available_next_nodes=wanted.available_next_nodes,
        output_schema=config.get("output_schema"),
        settings=_decode(wanted.settings),
        node_id=wanted.node_id,
        attempt=attempt.number,
        idempotency_key=task.key,
    )
