"""A server that speaks the wire formats of three providers, and answers as it was told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Literal

Provider = Literal["openai", "anthropic", "google"]


@dataclass(frozen=True)
class Said:
    """A reply of a model, which each provider writes in its own way."""

    text: str = ""
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    """Id, name, arguments."""
    finish: Literal["stop", "tool_calls", "length", "refused"] = "stop"
    input: int = 100
    output: int = 7
    cached: int = 0


@dataclass(frozen=True)
class Sent:
    """What goes over the wire as it is."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    hangs_up_after: int | None = None
    """Bytes of the body, of those that were promised."""


SILENCE = object()
"""No answer at all, until the server ends."""


@dataclass
class WireServer:
    provider: Provider
    answers: list[Any] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Path, headers (in lower case) and body of each."""
    url: str = ""
    ended: Event = field(default_factory=Event)

    @property
    def base(self) -> str:
        return f"{self.url}/v1" if self.provider == "openai" else self.url


@contextmanager
def serving(provider: Provider, port: int = 0) -> Iterator[WireServer]:
    wire = WireServer(provider)
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(wire))
    wire.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(wire: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            wire.requests.append({"path": self.path, "headers": headers, "body": body})
            self._answer(wire.answers.pop(0) if len(wire.answers) > 1 else wire.answers[0], body)

        def _answer(self, answer: Any, body: dict[str, Any]) -> None:
            if answer is SILENCE:
                wire.ended.wait(30)
                self.close_connection = True
                return
            if isinstance(answer, Said):
                streamed = bool(body.get("stream")) or "streamGenerateContent" in self.path
                kind = "text/event-stream" if streamed else "application/json"
                written = _STREAMED[wire.provider](answer) if streamed else _WHOLE[wire.provider](answer)
                answer = Sent(200, written, (("Content-Type", kind),))
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body if answer.hangs_up_after is None else answer.body[: answer.hangs_up_after])
            self.close_connection = answer.hangs_up_after is not None

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def failed(provider: Provider, status: int, message: str, kind: str = "", **headers: str) -> Sent:
    """An error as the provider writes it."""
    error: dict[str, Any] = {"message": message}
    match provider:
        case "openai":
            body: dict[str, Any] = {"error": error | {"type": kind, "code": kind or None, "param": None}}
        case "anthropic":
            body = {"type": "error", "error": error | {"type": kind or "api_error"}}
        case "google":
            body = {"error": error | {"code": status, "status": kind or "UNKNOWN"}}
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Sent(status, json.dumps(body).encode(), (("Content-Type", "application/json"), *given))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _event(value: Any, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + _json(value) + b"\n\n"


# -- OpenAI's chat completions -----------------------------------------------------------------------------------------

_OPENAI_FINISH = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "refused": "content_filter"}


def _openai_calls(said: Said) -> list[dict[str, Any]]:
    return [
        {"id": id, "type": "function", "index": at, "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (id, name, arguments) in enumerate(said.calls)
    ]


def _openai_usage(said: Said) -> dict[str, Any]:
    return {
        "prompt_tokens": said.input,
        "completion_tokens": said.output,
        "total_tokens": said.input + said.output,
        "prompt_tokens_details": {"cached_tokens": said.cached},
    }


def _openai(said: Said) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = _openai_calls(said)
    choice = {"index": 0, "message": message, "finish_reason": _OPENAI_FINISH[said.finish]}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "wire-1"}
    return _json(head | {"choices": [choice], "usage": _openai_usage(said)})


def _openai_streamed(said: Said) -> bytes:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "wire-1"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    half = len(said.text) // 2
    written = [chunk({"role": "assistant", "content": part}) for part in (said.text[:half], said.text[half:]) if part]
    for call in _openai_calls(said):
        arguments = call["function"]["arguments"]
        written.append(chunk({"tool_calls": [call | {"function": call["function"] | {"arguments": arguments[:3]}}]}))
        written.append(chunk({"tool_calls": [{"index": call["index"], "function": {"arguments": arguments[3:]}}]}))
    written.append(chunk({}, _OPENAI_FINISH[said.finish]))
    written.append(_event(head | {"choices": [], "usage": _openai_usage(said)}))
    return b"".join(written) + b"data: [DONE]\n\n"


# -- Anthropic's messages ----------------------------------------------------------------------------------------------

_ANTHROPIC_FINISH = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "refused": "refusal"}


def _anthropic_head(said: Said) -> dict[str, Any]:
    return {"id": "m1", "type": "message", "role": "assistant", "model": "wire-1", "stop_sequence": None}


def _anthropic_usage(said: Said) -> dict[str, Any]:
    """Its input tokens are those that were not cached."""
    return {
        "input_tokens": said.input - said.cached,
        "output_tokens": said.output,
        "cache_read_input_tokens": said.cached,
        "cache_creation_input_tokens": 0,
    }


def _anthropic_blocks(said: Said) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": said.text}] if said.text else []
    return [*text, *({"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in said.calls)]


def _anthropic(said: Said) -> bytes:
    return _json(
        _anthropic_head(said)
        | {"content": _anthropic_blocks(said), "stop_reason": _ANTHROPIC_FINISH[said.finish]}
        | {"usage": _anthropic_usage(said)}
    )


def _anthropic_streamed(said: Said) -> bytes:
    start = _anthropic_head(said) | {"content": [], "stop_reason": None, "usage": _anthropic_usage(said)}
    written = [_event({"type": "message_start", "message": start}, "message_start")]
    for at, block in enumerate(_anthropic_blocks(said)):
        if block["type"] == "text":
            empty, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = (
                block | {"input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        written.append(
            _event({"type": "content_block_start", "index": at, "content_block": empty}, "content_block_start")
        )
        written.append(_event({"type": "content_block_delta", "index": at, "delta": delta}, "content_block_delta"))
        written.append(_event({"type": "content_block_stop", "index": at}, "content_block_stop"))
    ended = {"stop_reason": _ANTHROPIC_FINISH[said.finish], "stop_sequence": None}
    usage = {"output_tokens": said.output}
    written.append(_event({"type": "message_delta", "delta": ended, "usage": usage}, "message_delta"))
    return b"".join([*written, _event({"type": "message_stop"}, "message_stop")])


# -- Google's generateContent ------------------------------------------------------------------------------------------

_GOOGLE_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}


def _google_piece(said: Said, parts: list[dict[str, Any]]) -> dict[str, Any]:
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": parts},
        "finishReason": _GOOGLE_FINISH[said.finish],
    }
    usage = {
        "promptTokenCount": said.input,
        "candidatesTokenCount": said.output,
        "totalTokenCount": said.input + said.output,
    }
    if said.cached:
        usage["cachedContentTokenCount"] = said.cached
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "wire-1", "responseId": "r1"}


def _google_parts(said: Said) -> list[dict[str, Any]]:
    text = [{"text": said.text}] if said.text else []
    return [*text, *({"functionCall": {"id": id, "name": name, "args": given}} for id, name, given in said.calls)]


def _google(said: Said) -> bytes:
    return _json(_google_piece(said, _google_parts(said)))


def _google_streamed(said: Said) -> bytes:
    return b"".join(_event(_google_piece(said, [part])) for part in _google_parts(said) or [{"text": ""}])


_WHOLE = {"openai": _openai, "anthropic": _anthropic, "google": _google}
_STREAMED = {"openai": _openai_streamed, "anthropic": _anthropic_streamed, "google": _google_streamed}
