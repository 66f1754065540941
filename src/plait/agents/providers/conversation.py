"""Translates a conversation to the library's types, and its answer back to ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, assert_never, cast

from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from plait.agents import model as ours
from plait.kernel import values

_ANSWER: Final = "answer"


def messages_of(request: ours.ModelRequest) -> list[ModelMessage]:
    """All messages except the leading system messages, which become the instructions."""
    found: list[ModelMessage] = []
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    first = len(_leading(request.messages))
    asked: list[ModelRequestPart] = []
    for at, message in enumerate(request.messages[first:], first):
        if message.role == "assistant":
            if asked:
                found.append(ModelRequest(asked))
            found.append(_reply(message))
            asked = []
        else:
            asked.append(_part(message, names, cached=at in request.cache_points))
    if asked:
        found.append(ModelRequest(asked))
    return found


def parameters_of(request: ours.ModelRequest, *, native_answers: bool) -> ModelRequestParameters:
    schema = request.answer_schema
    native = native_answers and schema is not None
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=each.name,
                description=each.description,
                parameters_json_schema=dict(each.parameters),
                strict=False,  # a strict schema can't have optional parameters
            )
            for each in request.tools
        ],
        output_mode="native" if native else "text",
        output_object=OutputObjectDefinition(dict(schema), name=_ANSWER, strict=False) if native and schema else None,
        instruction_parts=[*_instructions(request, schema_in_prompt=schema is not None and not native)],
    )


def reply_of(response: ModelResponse, asked: str) -> ours.ModelReply:
    calls = [
        ours.ToolCall(part.tool_call_id, part.tool_name, _arguments(part.args))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    ]
    usage = response.usage
    return ours.ModelReply(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        tool_calls=calls,
        finish=_finish(response, calls),
        usage=ours.Usage(
            input=max(usage.input_tokens, usage.cache_read_tokens),
            output=usage.output_tokens,
            cached=usage.cache_read_tokens,
        ),
        model=response.model_name or asked,
    )


def _leading(messages: Sequence[ours.ChatMessage]) -> list[ours.ChatMessage]:
    first = next((at for at, each in enumerate(messages) if each.role != "system"), len(messages))
    return list(messages[:first])


def _instructions(request: ours.ModelRequest, *, schema_in_prompt: bool) -> Iterator[InstructionPart]:
    """Everything before the first cache point is the same in every call: providers cache up to the first part that is
    not static. The rest is cached with the conversation."""
    leading = _leading(request.messages)
    fixed = min((at for at in request.cache_points if at < len(leading)), default=-1)
    for at, message in enumerate(leading):
        yield InstructionPart(content=message.content, dynamic=at > fixed)
    if schema_in_prompt:
        schema = json.dumps(request.answer_schema, sort_keys=True, ensure_ascii=False)
        text = (
            f"Your final answer is one JSON object, without any text around it, that fits this JSON Schema:\n{schema}"
        )
        yield InstructionPart(content=text, dynamic=True)


def _part(message: ours.ChatMessage, names: Mapping[str, str], *, cached: bool) -> ModelRequestPart:
    match message.role:
        case "system":
            return SystemPromptPart(message.content)
        case "user":
            return UserPromptPart([message.content, CachePoint()] if cached else message.content)
        case "tool":
            name = names.get(message.tool_call_id, "unknown")
            return ToolReturnPart(tool_name=name, content=message.content, tool_call_id=message.tool_call_id)
        case "assistant":
            raise AssertionError("replies are apart")
        case _:
            assert_never(message.role)


def _reply(message: ours.ChatMessage) -> ModelResponse:
    """Providers accept only objects as arguments. The model is told about other values as an error anyway."""
    text = [TextPart(message.content)] if message.content else []
    calls = [
        ToolCallPart(
            tool_name=call.name,
            args=_object(call.arguments),
            tool_call_id=call.id,
        )
        for call in message.tool_calls
    ]
    return ModelResponse([*text, *calls])


def _object(arguments: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}


def _arguments(given: object) -> Any:
    """Parsed JSON; what can't be parsed stays the text that the model wrote."""
    if given is None:
        return {}
    if not isinstance(given, str):
        return given
    try:
        return values.parse(given) if given.strip() else {}
    except Exception:
        return given


def _finish(response: ModelResponse, calls: Sequence[ours.ToolCall]) -> ours.Finish:
    match response.finish_reason:
        case "length":
            return "length"
        case "content_filter":
            return "refused"
        case _:
            return "tool_calls" if calls else "stop"
