"""A rough token count of a text: one for four characters. Providers report the exact number afterwards."""

from __future__ import annotations

from plait.kernel import values

from .model import ChatMessage, ModelRequest


def tokens_in(characters: int) -> int:
    return -(-characters // 4)


def tokens_of(request: ModelRequest) -> int:
    """Tokens of everything that a request sends."""
    characters = sum(_length(each) for each in request.messages)
    return tokens_in(characters + sum(len(values.plain(each)) for each in request.tools))


def _length(message: ChatMessage) -> int:
    return len(message.content) + sum(len(values.plain(each)) for each in message.tool_calls)
