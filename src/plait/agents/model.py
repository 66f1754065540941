"""Requests to a language model and its replies. No provider's name or type appears outside its adapter.

A model is anything with `complete`: one call, one reply. The caller keeps the conversation, the budgets and the
journal; a model is stateless.
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
    """Parsed JSON, or the original string if the model wrote invalid JSON."""


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    role: Role
    content: str = ""
    tool_calls: Sequence[ToolCall] = ()
    """Only for the role `assistant`."""
    tool_call_id: str = ""
    """Only for the role `tool`: the call that it answers."""


class OfferedTool(msgspec.Struct, frozen=True):
    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON Schema of an object."""


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    """The model's name in the workflow."""
    messages: Sequence[ChatMessage]
    tools: Sequence[OfferedTool] = ()
    temperature: float = 0.3
    max_tokens: int = 4_096
    answer_schema: Mapping[str, Any] | None = None
    """The schema of the final answer."""
    cache_points: Sequence[int] = ()
    """Message counts after which a provider may cache everything so far."""
    timeout: float = 300.0
    """In seconds."""
    key: str = ""
    """The same when the turn is repeated after a crash."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Token counts. Cached tokens are part of the input."""

    input: int = 0
    output: int = 0
    cached: int = 0


class ModelReply(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str = ""
    """The provider's name for it."""


class ModelError(Exception):
    """A call that produced no reply."""

    def __init__(self, kind: ErrorKind, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message or kind)
        self.kind: ErrorKind = kind
        self.retry_after = retry_after
        """Seconds, if the provider said so."""

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE


class Model(Protocol):
    async def complete(self, request: ModelRequest) -> ModelReply: ...
