"""What a language model is asked and what it answers. No provider's name or type appears outside its adapter.

A model is anything with `complete`: one call, one reply. Whoever calls keeps the conversation, the budgets and the
journal; a model keeps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length", "refused"]
ErrorKind = Literal["rate_limited", "overloaded", "timeout", "auth", "invalid_request", "context_too_long"]

RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limited", "overloaded", "timeout"})


class ToolCall(msgspec.Struct, frozen=True):
    id: str
    name: str
    arguments: Any
    """As JSON; a string, if what the model wrote is none."""


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    role: Role
    content: str = ""
    tool_calls: Sequence[ToolCall] = ()
    """Of the role `assistant`."""
    tool_call_id: str = ""
    """Of the role `tool`: what it answers."""


class OfferedTool(msgspec.Struct, frozen=True):
    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON Schema of an object."""


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    """The name that the workflow uses."""
    messages: Sequence[ChatMessage]
    tools: Sequence[OfferedTool] = ()
    temperature: float = 0.3
    max_tokens: int = 4_096
    answer_schema: Mapping[str, Any] | None = None
    """What the final answer has to fit."""
    cache_points: Sequence[int] = ()
    """Numbers of messages behind which a provider may cache what came so far."""
    timeout: float = 300.0
    """Seconds."""
    key: str = ""
    """Equal when the same turn is asked again after a crash."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens. Cached ones are part of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


class ModelReply(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str = ""
    """As the provider calls it."""


class ModelError(Exception):
    """A call that gave no reply."""

    def __init__(self, kind: ErrorKind, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message or kind)
        self.kind: ErrorKind = kind
        self.retry_after = retry_after
        """Seconds, where the provider said so."""

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE


class Model(Protocol):
    async def complete(self, request: ModelRequest) -> ModelReply: ...
