"""Language models, as dialects see them: anything with a name and `complete`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

import msgspec

from plait.kernel.task import TaskError


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
