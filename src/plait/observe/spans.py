"""A span for each run and for each attempt of a task.

    run order                         written when the run ends; its ids follow from the run's id, so spans from
    ├── step `reserve`, attempt 1     other processes, before or after a crash, are in the same trace
    ├── step `charge`, attempt 1 ✗
    ├── step `charge`, attempt 2      current inside the step: HTTP clients pass it on as `traceparent`
    └── run shipping                  a child

Needs the extra `otel`; `traces` imports this only when traces are wanted.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Token
from importlib.metadata import version
from types import TracebackType
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Tracer, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from plait.engine import Engine
from plait.kernel.errors import ErrorInfo, PlaitError
from plait.kernel.events import Event, RunCancelled, RunCompleted, RunFailed, RunReopened
from plait.kernel.ids import Millis, RunId, caller_id
from plait.kernel.machine import RunInfo
from plait.kernel.measured import TaskTrace, Traced
from plait.kernel.observer import Observer
from plait.kernel.task import Attempt

from .trace_ids import span_id, task_span_id, trace_id, trace_of
from .turn_spans import TurnSpans

_REMEMBERED = 10_000
_FLUSH_PATIENCE = 5_000
_ENDS: dict[type[Event], str] = {RunCompleted: "completed", RunFailed: "failed", RunCancelled: "cancelled"}


class Traces(Observer):
    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("plait", version("plait"))
        self._ids = _ChosenIds(provider.id_generator)
        if isinstance(self._tracer, Tracer):  # otherwise the SDK is disabled and makes no ids
            self._tracer.id_generator = self._ids
        self._engine: Engine | None = None
        self._callers: dict[RunId, SpanContext] = {}
        self._reopened: dict[RunId, Millis] = {}

    def follow(self, engine: Engine) -> None:
        """Sets the engine, to look up the run of an attempt by its id."""
        self._engine = engine
        engine.agents.watch = TurnSpans(self._tracer)

    async def close(self) -> None:
        """Exports the remaining spans, within a time limit."""
        await asyncio.to_thread(self._provider.force_flush, _FLUSH_PATIENCE)

    # -- runs ----------------------------------------------------------------------------------------------------

    def committed(self, run: RunInfo, events: Sequence[Event], at: Millis) -> None:
        for event in events:
            if type(event) in _ENDS:
                self._ended(run, event, at)
            elif type(event) is RunReopened:
                _remember(self._reopened, run.run_id, at)

    def _ended(self, run: RunInfo, event: Event, at: Millis) -> None:
        reopened = self._reopened.pop(run.run_id, None)
        if reopened is None:
            span = self._run_span(run)
        else:  # the run's own span was written at its first end
            span = self._tracer.start_span(
                f"reopened {run.definition}", self._inside(run), attributes=_facts(run), start_time=_nanos(reopened)
            )
        span.set_attribute("plait.status", _ENDS[type(event)])
        if isinstance(event, RunFailed):
            _fail(span, event.error)
        span.end(_nanos(at))

    def _run_span(self, run: RunInfo) -> Span:
        context, links = Context(), list[Link]()
        if run.parent is not None and run.depth == 1:
            context = self._as_parent(trace_id(run.parent), span_id(run.parent))
        elif run.parent is not None:
            links.append(Link(SpanContext(trace_id(run.parent), span_id(run.parent), is_remote=True)))
        caller = self._callers.pop(run.run_id, None)
        if caller is not None:
            links.append(Link(caller))
        with self._ids.chosen(trace_of(run), span_id(run.run_id)):
            return self._tracer.start_span(
                f"run {run.definition}", context, attributes=_facts(run), links=links, start_time=_nanos(run.created_at)
            )

    def _inside(self, run: RunInfo) -> Context:
        return self._as_parent(trace_of(run), span_id(run.run_id))

    def _as_parent(self, trace: int, span: int) -> Context:
        """A context with the span of a run as parent, even before that span exists. Sampling depends only on the id, so
        all processes agree."""
        sampled = self._provider.sampler.should_sample(Context(), trace, "run").decision.is_sampled()
        flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
        return _in_context(NonRecordingSpan(SpanContext(trace, span, is_remote=True, trace_flags=flags)))

    # -- attempts ------------------------------------------------------------------------------------------------

    def attempting(self, attempt: Attempt) -> AbstractContextManager[object] | None:
        run = None if self._engine is None else self._engine.kernel.run_cache.get(attempt.run_id)
        if run is None:
            return None
        facts = _facts(run.info) | {
            "plait.node": attempt.task.node or attempt.task.token,
            "plait.attempt": attempt.number,
        }
        found = run.machine.trace(attempt.task.token) if isinstance(run.machine, Traced) else None
        if found is None:
            return _Attempt(self._tracer.start_span(attempt.task.label, self._inside(run.info), attributes=facts))
        return _Attempt(self._node_span(run.info, found, attempt, facts))

    def _node_span(self, run: RunInfo, of: TaskTrace, attempt: Attempt, facts: dict[str, Any]) -> Span:
        """Starts the span of an attempt under that of its cause. Other processes can derive the id of a first attempt's
        span."""
        trace = trace_of(run)
        before = [task_span_id(run.run_id, name) for name in of.parents]
        context = self._as_parent(trace, before[0]) if before else self._inside(run)
        links = [Link(SpanContext(trace, span, is_remote=True)) for span in before[1:]]
        own = {"run_id": caller_id(run.run_id), "attempt": attempt.number}
        facts = {**facts, "plait.label": attempt.task.label, **own, **of.attributes}
        if attempt.number > 1:
            return self._tracer.start_span(of.name, context, attributes=facts, links=links)
        with self._ids.chosen(trace, task_span_id(run.run_id, of.span)):
            return self._tracer.start_span(of.name, context, attributes=facts, links=links)

    # -- not traced ----------------------------------------------------------------------------------------------

    def grouped(self, writes: int, seconds: float) -> None: ...

    def lost(self, shards: int) -> None: ...

    def unavailable(self, error: PlaitError) -> None: ...

    # -- callers -------------------------------------------------------------------------------------------------

    def requested(self, run_id: RunId, definition: str, headers: Mapping[str, str]) -> None:
        """Links a run with the request that started it, if that has a `traceparent`. The caller's trace gets a span
        that links to the run, and the run links back; it has its own trace, because it may outlive the request by
        months."""
        context = _propagator.extract(dict(headers), Context())
        caller = trace.get_current_span(context).get_span_context()
        if not caller.is_valid:
            return
        _remember(self._callers, run_id, caller)
        link = Link(SpanContext(trace_id(run_id), span_id(run_id), is_remote=True))
        facts = {"plait.run_id": caller_id(run_id), "plait.definition": definition}
        self._tracer.start_span(f"start {definition}", context, SpanKind.PRODUCER, facts, [link]).end()


class _Attempt(AbstractContextManager[None]):
    """A context in which the span of an attempt is current."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span) -> None:
        self._span = span
        self._token: Token[Context] | None = None

    def __enter__(self) -> None:
        self._token = contexts.attach(trace.set_span_in_context(self._span))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            contexts.detach(self._token)
        outcome = "completed" if error is None else "failed"
        if isinstance(error, asyncio.CancelledError):
            outcome = "stopped"  # cancelled or timed out
            self._span.set_status(Status(StatusCode.ERROR, "cancelled or out of time"))
        elif error is not None:
            self._span.record_exception(error)
            self._span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))
        self._span.set_attribute("plait.status", outcome)
        self._span.end()


class _ChosenIds(IdGenerator):
    """Random ids, except for spans whose ids are chosen. Used by one tracer, on the event loop only."""

    def __init__(self, random: IdGenerator) -> None:
        self._random = random
        self._chosen: tuple[int, int] | None = None

    def chosen(self, trace: int, span: int) -> _Choice:
        return _Choice(self, (trace, span))

    def choose(self, ids: tuple[int, int] | None) -> None:
        self._chosen = ids

    def generate_trace_id(self) -> int:
        return self._random.generate_trace_id() if self._chosen is None else self._chosen[0]

    def generate_span_id(self) -> int:
        return self._random.generate_span_id() if self._chosen is None else self._chosen[1]


class _Choice(AbstractContextManager[None]):
    def __init__(self, ids: _ChosenIds, chosen: tuple[int, int]) -> None:
        self._ids = ids
        self._chosen = chosen

    def __enter__(self) -> None:
        self._ids.choose(self._chosen)

    def __exit__(self, *_: object) -> None:
        self._ids.choose(None)


_propagator = TraceContextTextMapPropagator()


def _in_context(span: Span) -> Context:
    return trace.set_span_in_context(span, Context())


def _facts(run: RunInfo) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "plait.run_id": caller_id(run.run_id),
        "plait.namespace": run.namespace,
        "plait.definition": run.definition,
        "plait.dialect": run.dialect,
    }
    return facts if run.version is None else {**facts, "plait.version": run.version}


def _fail(span: Span, error: ErrorInfo) -> None:
    """Does what `record_exception` does, for an error that is already a record."""
    told = {"exception.type": error.type or error.code, "exception.message": error.message}
    span.add_event("exception", {**told, "exception.stacktrace": error.trace} if error.trace else told)
    span.set_status(Status(StatusCode.ERROR, error.message))
    span.set_attribute("plait.error", error.code)


def _remember(where: dict[RunId, Any], run_id: RunId, what: Any) -> None:
    """Remembers a value for a run; drops the oldest if there are too many, because a run may end in another process."""
    where[run_id] = what
    if len(where) > _REMEMBERED:
        del where[next(iter(where))]


def _nanos(at: Millis) -> int:
    return at * 1_000_000


def provider_of_process(exporter: str) -> TracerProvider:
    """Returns the tracer provider of the process; if it has none, a new one configured from the environment."""
    current = trace.get_tracer_provider()
    if isinstance(current, TracerProvider):
        return current
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    provider = TracerProvider(resource=Resource.create({} if named else {"service.name": "plait"}))
    spans = OTLPSpanExporter() if exporter == "otlp" else ConsoleSpanExporter()
    provider.add_span_processor(BatchSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    return provider
