"""The adapters against a real server that speaks each provider's wire format."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from plait.agents.model import ChatMessage, ModelError, ModelReply, ModelRequest, OfferedTool, ToolCall, Usage
from plait.agents.providers.provider_model import ProviderModel
from plait.agents.providers.secrets import Secret
from plait.agents.providers.settings import read_model
from plait.egress import EgressSettings

from .wire_server import SILENCE, Provider, Said, Sent, WireServer, failed, serving

KEY = "sk-never-to-be-seen-0123456789"
ASK = (ChatMessage("system", "You are an agent."), ChatMessage("user", "Is Ada a good customer?"))
LOOKUP = OfferedTool(
    "lookup", "Looks up a customer.", {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
)
PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic", "google")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(params=PROVIDERS)
def wire(request: pytest.FixtureRequest) -> Iterator[WireServer]:
    with serving(request.param) as made:
        yield made


def model(wire: WireServer, *, egress: EgressSettings | None = None, **settings: Any) -> ProviderModel:
    given = {"provider": wire.provider, "model": "wire-1", "url": wire.base, **settings}
    return ProviderModel("fast", read_model("fast", given), Secret(KEY), egress=egress)


def complete(wire: WireServer, *answers: Any, model: ProviderModel, **asked: Any) -> ModelReply:
    wire.answers = list(answers)
    request = ModelRequest(**({"model": "fast", "messages": ASK, "timeout": 20.0} | asked))

    async def scenario() -> ModelReply:
        try:
            return await model.complete(request)
        finally:
            await model.aclose()

    return asyncio.run(scenario())


def refused(wire: WireServer, answer: Any, **asked: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        complete(wire, answer, model=asked.pop("model", None) or model(wire), **asked)
    assert len(wire.requests) <= 1, "a call is made once: the kernel repeats"
    assert KEY not in repr(raised.value) + str(raised.value)
    return raised.value


# -- replies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_has_text_usage_and_the_providers_name_of_the_model(wire: WireServer, stream: bool) -> None:
    reply = complete(wire, Said("Yes, she is.", cached=64), model=model(wire, stream=stream))
    assert reply.text == "Yes, she is."
    assert reply.finish == "stop"
    assert reply.usage == Usage(input=100, output=7, cached=64)
    assert reply.model == "wire-1"


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_may_call_several_tools(wire: WireServer, stream: bool) -> None:
    said = Said(calls=(("a", "lookup", {"id": "1"}), ("b", "lookup", {"id": "2"})), finish="tool_calls")
    reply = complete(wire, said, model=model(wire, stream=stream), tools=[LOOKUP])
    assert reply.finish == "tool_calls"
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("lookup", {"id": "1"}),
        ("lookup", {"id": "2"}),
    ]
    assert len({call.id for call in reply.tool_calls}) == 2


@pytest.mark.parametrize("finish", ["length", "refused"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_says_that_it_was_cut_off_or_refused(wire: WireServer, finish: Any, stream: bool) -> None:
    assert complete(wire, Said("I", finish=finish), model=model(wire, stream=stream)).finish == finish


def test_arguments_that_are_no_json_stay_as_the_model_wrote_them() -> None:
    with serving("openai") as wire:
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0}]}
        call = {"id": "a", "type": "function", "function": {"name": "lookup", "arguments": '{"id": '}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        body["choices"] = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
        reply = complete(wire, Sent(body=json.dumps(body).encode(), headers=_JSON), model=model(wire), tools=[LOOKUP])
    assert reply.tool_calls[0].arguments == '{"id": '


_JSON = (("Content-Type", "application/json"),)


# -- requests ----------------------------------------------------------------------------------------------------------


def test_a_whole_conversation_reaches_the_provider(wire: WireServer) -> None:
    conversation = (
        *ASK,
        ChatMessage("assistant", "I look.", [ToolCall("t1", "lookup", {"id": "1"})]),
        ChatMessage("tool", '{"orders": 12}', tool_call_id="t1"),
    )
    complete(
        wire, Said("Yes."), model=model(wire), messages=conversation, tools=[LOOKUP], temperature=0.1, max_tokens=99
    )
    body = wire.requests[0]["body"]
    told = json.dumps(body)
    for part in ("You are an agent.", "Is Ada a good customer?", "I look.", "lookup", "orders", "Looks up a customer."):
        assert part in told
    options = body.get("generationConfig", body)
    assert options["temperature"] == 0.1
    assert 99 in (options.get("max_tokens"), options.get("max_completion_tokens"), options.get("maxOutputTokens"))


def test_the_key_is_in_one_header_and_nowhere_else(wire: WireServer) -> None:
    complete(wire, Said("Yes."), model=model(wire))
    request = wire.requests[0]
    assert [name for name, value in request["headers"].items() if KEY in value] == [
        {"openai": "authorization", "anthropic": "authorization", "google": "x-goog-api-key"}[wire.provider]
    ]
    assert KEY not in request["path"] + json.dumps(request["body"])


def test_the_idempotency_key_is_sent_where_a_provider_may_know_it(wire: WireServer) -> None:
    complete(wire, Said("Yes."), model=model(wire), key="x1/3")
    expected = None if wire.provider == "google" else "x1/3"
    assert wire.requests[0]["headers"].get("idempotency-key") == expected


def test_the_schema_of_an_answer_reaches_the_model(wire: WireServer) -> None:
    schema = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}
    complete(wire, Said('{"verdict": "good"}'), model=model(wire), answer_schema=schema, tools=[LOOKUP])
    body = wire.requests[0]["body"]
    assert "verdict" in json.dumps(body)
    assert ("response_format" in body) is (wire.provider == "openai")


def test_anthropic_gets_cache_points_at_the_end_of_the_static_prefix() -> None:
    system = (ChatMessage("system", "static prefix"), ChatMessage("system", "instructions of the node"))
    with serving("anthropic") as wire:
        asked = {"messages": (*system, ASK[1]), "tools": [LOOKUP], "cache_points": (0, 1)}
        complete(wire, Said("Yes."), model=model(wire), **asked)
        body = wire.requests[0]["body"]
    marked = [block["text"] for block in body["system"] if "cache_control" in block]
    assert marked == ["static prefix"]
    assert "cache_control" in body["tools"][-1]
    assert "cache_control" in body, "the conversation, which has the rest"


def test_without_cache_points_nothing_is_cached() -> None:
    with serving("anthropic") as wire:
        complete(wire, Said("Yes."), model=model(wire), tools=[LOOKUP])
        assert "cache_control" not in json.dumps(wire.requests[0]["body"])


def test_headers_of_an_auth_profile_are_sent_with_each_call(wire: WireServer) -> None:
    settings = read_model("fast", {"provider": wire.provider, "model": "wire-1", "url": wire.base})
    made = ProviderModel("fast", settings, Secret(""), headers={"X-Gateway": "gw-secret-1"})
    complete(wire, Said("Yes."), model=made)
    assert wire.requests[0]["headers"]["x-gateway"] == "gw-secret-1"
    assert "gw-secret-1" not in repr(made)


# -- failures ----------------------------------------------------------------------------------------------------------


def test_a_rate_limit_says_when_to_come_back(wire: WireServer) -> None:
    kind = {"openai": "rate_limit_exceeded", "anthropic": "rate_limit_error", "google": "RESOURCE_EXHAUSTED"}
    error = refused(wire, failed(wire.provider, 429, "Slow down.", kind[wire.provider], Retry_After="17"))
    assert (error.kind, error.retry_after, error.retryable) == ("rate_limited", 17.0, True)
    assert "Slow down." in str(error)


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_an_overloaded_endpoint_may_be_asked_again(wire: WireServer, status: int) -> None:
    assert refused(wire, failed(wire.provider, status, "Overloaded.", "overloaded_error")).kind == "overloaded"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_an_auth_error_that_does_not_show_it(wire: WireServer, status: int) -> None:
    error = refused(wire, failed(wire.provider, status, f"Incorrect API key provided: {KEY}.", "authentication_error"))
    assert (error.kind, error.retryable) == ("auth", False)
    assert "[secret]" in str(error)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_refused_request_is_not_asked_again(wire: WireServer, status: int) -> None:
    error = refused(wire, failed(wire.provider, status, "No such parameter.", "invalid_request_error"))
    assert (error.kind, error.retryable) == ("invalid_request", False)


def test_a_conversation_that_is_too_long_is_told_apart(wire: WireServer) -> None:
    said = {
        "openai": ("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
        "anthropic": ("prompt is too long: 300000 tokens > 200000 maximum", "invalid_request_error"),
        "google": (
            "The input token count (300000) exceeds the maximum number of tokens allowed (200000).",
            "INVALID_ARGUMENT",
        ),
    }
    assert refused(wire, failed(wire.provider, 400, *said[wire.provider])).kind == "context_too_long"


@pytest.mark.parametrize("body", [b"", b"{", b"<html>Bad gateway</html>", b"[]", b"null", b'{"choices": 7}', b'"text"'])
def test_a_malformed_answer_is_a_failure_that_may_pass(wire: WireServer, body: bytes) -> None:
    assert refused(wire, Sent(body=body, headers=_JSON)).retryable


def test_an_answer_that_breaks_off_is_a_failure_that_may_pass(wire: WireServer) -> None:
    body = b'{"id": "c1", "choices": [' + b" " * 1000
    assert refused(wire, Sent(body=body, headers=_JSON, hangs_up_after=10)).kind == "overloaded"


def test_a_stream_that_breaks_off_is_a_failure_that_may_pass(wire: WireServer) -> None:
    cut = Sent(body=b'data: {"id": ' + b" " * 1000, headers=(("Content-Type", "text/event-stream"),), hangs_up_after=8)
    assert refused(wire, cut, model=model(wire, stream=True)).retryable


@pytest.mark.parametrize("stream", [False, True])
def test_silence_is_a_timeout(wire: WireServer, stream: bool) -> None:
    error = refused(wire, SILENCE, model=model(wire, stream=stream), timeout=0.3)
    assert (error.kind, error.retryable) == ("timeout", True)


def test_an_endpoint_that_is_not_there_is_a_failure_that_may_pass() -> None:
    with serving("openai") as wire:
        gone = wire.base
    wire = WireServer("openai", url=gone.removesuffix("/v1"))
    assert refused(wire, None).kind == "overloaded"


# -- the guard ---------------------------------------------------------------------------------------------------------


def test_a_redirect_to_another_place_is_not_followed(wire: WireServer) -> None:
    with serving(wire.provider) as other:
        other.answers = [Said("stolen")]
        error = refused(wire, Sent(307, headers=(("Location", f"{other.url}/v1/x"),)))
        assert not other.requests
    assert error.kind in ("invalid_request", "overloaded")


def test_what_the_operator_denies_stays_denied(wire: WireServer) -> None:
    error = refused(wire, Said("x"), model=model(wire, egress=EgressSettings(deny_addresses=("127.0.0.0/8",))))
    assert (error.kind, error.retryable) == ("invalid_request", False)
    assert not wire.requests


def test_an_answer_without_end_is_not_read(wire: WireServer) -> None:
    egress = EgressSettings(max_response_bytes=2_000)
    error = refused(wire, Sent(body=b" " * 100_000, headers=_JSON), model=model(wire, egress=egress))
    assert error.kind == "overloaded"


def test_an_answer_that_has_to_be_unpacked_is_not_read(wire: WireServer) -> None:
    packed = Sent(body=b"\x1f\x8b", headers=(*_JSON, ("Content-Encoding", "gzip")))
    assert refused(wire, packed).kind == "overloaded"


def test_no_log_line_holds_the_key(wire: WireServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    complete(wire, Said("Yes."), model=model(wire))

    assert KEY not in caplog.text
