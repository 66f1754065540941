"""A span `agent.turn` for each model call, under the span of its attempt, with OpenTelemetry's GenAI names."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from plait.agents.model import ModelReply
from plait.agents.watch import TurnFacts, TurnWatch
from plait.kernel.ids import caller_id


class TurnSpans:
    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def turn(self, facts: TurnFacts) -> Generator[TurnWatch]:
        asked = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": facts.model,
            "gen_ai.request.max_tokens": facts.max_tokens,
            "gen_ai.request.temperature": facts.temperature,
            "gen_ai.agent.name": facts.node_id,
            "plait.run_id": caller_id(facts.run_id),
            "plait.turn": facts.turn,
            "plait.attempt": facts.attempt,
        }
        with self._tracer.start_as_current_span(
            "agent.turn", kind=SpanKind.CLIENT, attributes=asked, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield _Turn(span)
            except Exception as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def tool_called(self, facts: TurnFacts, tool: str, status: str) -> None:
        """Makes no span: metrics count tool calls."""


class _Turn:
    def __init__(self, span: Span) -> None:
        self._span = span

    def replied(self, reply: ModelReply, cost_usd: float | None) -> None:
        found = {
            "gen_ai.response.model": reply.model,
            "gen_ai.response.finish_reasons": [reply.finish],
            "gen_ai.usage.input_tokens": reply.usage.input,
            "gen_ai.usage.output_tokens": reply.usage.output,
            "plait.cached_tokens": reply.usage.cached,
        }
        self._span.set_attributes(found if cost_usd is None else {**found, "plait.cost_usd": cost_usd})
