"""Spans of runs and attempts, as a collector gets them."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry import propagate, trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanContext, StatusCode

from plait import Context, Engine, graph, handler, step, workflow
from plait.errors import InvalidInput, PlaitError, RunFailed
from plait.kernel.ids import RunId
from plait.observe import traces
from plait.observe.spans import Traces
from plait.observe.trace_ids import span_id, trace_id
from plait.stores.memory import MemoryStore
from tests.engine.places import soon
from tests.observe.flows import asking, chatty, failing, family


class Collector:
    """An engine's traces, and the spans that were exported."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(**options)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.traces = Traces(self.provider)

    def engine(self, *definitions: object, **options: Any) -> Engine:
        engine = Engine("memory:", definitions=definitions, observers=[self.traces], **options)
        self.traces.follow(engine)
        return engine

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.exporter.get_finished_spans()]


@pytest.fixture
def collector() -> Collector:
    return Collector()


def where(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_a_run_is_a_span_with_a_span_for_each_attempt(collector: Collector):
    async with collector.engine(chatty) as engine:
        await (await engine.start(chatty, "hi", id="r1", namespace="shop")).result()
    assert collector.names == ["step `one`", "step `two`", "step `three`", "run chatty"]
    run = collector.spans["run chatty"]
    assert where(run).trace_id == trace_id(RunId("shop/r1"))
    assert where(run).span_id == span_id(RunId("shop/r1"))
    assert run.parent is None
    assert {parent_of(span) for span in collector.spans.values() if span is not run} == {where(run).span_id}
    assert {where(span).trace_id for span in collector.spans.values()} == {where(run).trace_id}
    shared = {
        "plait.run_id": "r1",
        "plait.namespace": "shop",
        "plait.definition": "chatty",
        "plait.dialect": "code",
        "plait.status": "completed",
    }
    assert shared.items() <= attributes(run).items()
    step = attributes(collector.spans["step `two`"])
    assert (shared | {"plait.node": "two", "plait.attempt": 1}).items() <= step.items()


async def test_a_failed_attempt_and_a_failed_run_carry_their_error(collector: Collector):
    async with collector.engine(failing) as engine:
        with pytest.raises(RunFailed):
            await (await engine.start(failing, id="r1")).result()
    first, second, run = collector.exporter.get_finished_spans()
    assert [attributes(span)["plait.attempt"] for span in (first, second)] == [1, 2]
    for span in (first, second, run):
        assert span.status.status_code == StatusCode.ERROR
        [event] = span.events
        assert event.name == "exception"
        assert "card refused" in str((event.attributes or {})["exception.message"])


async def test_the_trace_of_a_run_is_the_same_after_a_crash():
    before, after, store = Collector(), Collector(), MemoryStore()
    async with before.engine(two_parts, store=store, lease_ttl=0.1) as engine:
        handle = await engine.start(two_parts, id="r1")
        [approval] = await soon(engine.approvals.list)
        created = (await handle.row()).created_at
        await engine.kernel.crash()
    async with after.engine(two_parts, store=store, lease_ttl=0.1) as engine:
        await engine.approvals.decide(approval.id, "approve")
        await (await engine.get("r1")).result()
    assert before.names == ["step `first`"]
    assert after.names == ["step `second`", "run two_parts"]
    spans = [*before.exporter.get_finished_spans(), *after.exporter.get_finished_spans()]
    assert len({where(span).trace_id for span in spans}) == 1
    assert parent_of(spans[0]) == parent_of(spans[1]) == where(spans[2]).span_id
    assert spans[2].start_time == created * 1_000_000


@step
async def nothing() -> None: ...


@workflow
async def two_parts(ctx: Context) -> None:
    await ctx.step("first", nothing)
    await ctx.approve("manager")
    await ctx.step("second", nothing)


async def test_a_child_is_in_the_trace_of_its_parent_and_a_grandchild_links_to_it(collector: Collector):
    async with collector.engine(family) as engine:
        await (await engine.start(family, 2, id="root")).result()
    runs = [span for span in collector.exporter.get_finished_spans() if span.name == "run family"]
    grandchild, child, root = runs
    assert parent_of(child) == where(root).span_id
    assert where(child).trace_id == where(root).trace_id
    assert grandchild.parent is None
    [link] = grandchild.links
    assert link.context.span_id == where(child).span_id


async def test_no_two_spans_have_the_same_id(collector: Collector):
    async with collector.engine(family) as engine:
        for number in range(3):
            await (await engine.start(family, 0, id=f"r{number}")).result()
    spans = collector.exporter.get_finished_spans()
    assert len({where(span).span_id for span in spans}) == len(spans) == 6


async def test_a_reopened_run_gets_one_more_span_below_its_own(collector: Collector):
    async with collector.engine(failing) as engine:
        handle = await engine.start(failing, id="r1")
        with pytest.raises(RunFailed):
            await handle.result()
        await handle.retry()
        with pytest.raises(RunFailed):
            await handle.result()
    assert collector.names.count("run failing") == 1
    assert parent_of(collector.spans["reopened failing"]) == where(collector.spans["run failing"]).span_id


async def test_a_cancelled_run_says_so_and_is_no_error(collector: Collector):
    async with collector.engine(asking) as engine:
        handle = await engine.start(asking)
        await handle.cancel()
    span = collector.spans["run asking"]
    assert attributes(span)["plait.status"] == "cancelled"
    assert span.status.status_code == StatusCode.UNSET


async def test_all_processes_agree_on_what_is_sampled():
    ratio = 0.5
    one = Collector(sampler=ParentBased(TraceIdRatioBased(ratio)))
    async with one.engine(chatty) as engine:
        for number in range(40):
            await (await engine.start(chatty, "hi", id=f"r{number}")).result()
    traces_seen: dict[int, int] = {}
    for span in one.exporter.get_finished_spans():
        traces_seen[where(span).trace_id] = traces_seen.get(where(span).trace_id, 0) + 1
    assert 0 < len(traces_seen) < 40
    assert set(traces_seen.values()) == {4}  # a trace is whole, or not there


# -- over HTTP -------------------------------------------------------------------------------------------------------


class Receiver:
    """A loopback HTTP server that keeps what it is sent."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                receiver.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def headers() -> dict[str, str]:
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


@step
async def call(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.post(url, headers=headers())


@step
def call_from_a_thread(url: str) -> None:
    httpx.post(url, headers=headers(), trust_env=False)


@workflow
async def calling(ctx: Context, url: str) -> None:
    await ctx.step("async", call, url)
    await ctx.step("thread", call_from_a_thread, url)


async def test_http_calls_of_a_step_carry_the_span_of_its_attempt(collector: Collector, receiver: Receiver):
    async with collector.engine(calling) as engine:
        await (await engine.start(calling, receiver.url, id="r1")).result()
    seen = [sent["traceparent"] for _, sent, _ in receiver.requests]
    spans = [collector.spans["step `async`"], collector.spans["step `thread`"]]
    assert seen == [f"00-{where(span).trace_id:032x}-{where(span).span_id:016x}-01" for span in spans]


async def test_outside_of_attempts_no_span_is_current(collector: Collector):
    async with collector.engine(chatty) as engine:
        await (await engine.start(chatty, "hi")).result()
        assert not trace.get_current_span().get_span_context().is_valid


async def test_a_caller_with_a_traceparent_and_the_run_it_started_find_each_other(collector: Collector):
    theirs = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with collector.engine(chatty) as engine:
        handle = await engine.start(chatty, "hi", id="r1")
        collector.traces.requested(RunId("r1"), "chatty", {"traceparent": theirs})
        await handle.result()
    start, run = collector.spans["start chatty"], collector.spans["run chatty"]
    assert f"{where(start).trace_id:032x}" == theirs[3:35]
    assert f"{parent_of(start):016x}" == theirs[36:52]
    assert start.links[0].context.span_id == where(run).span_id
    assert f"{run.links[0].context.trace_id:032x}" == theirs[3:35]


@pytest.mark.parametrize("sent", [{}, {"traceparent": "nonsense"}, {"traceparent": "00-" + "0" * 32 + "-1-01"}])
def test_a_caller_without_a_usable_traceparent_leaves_no_span(collector: Collector, sent: dict[str, str]):
    collector.traces.requested(RunId("r1"), "chatty", sent)
    assert collector.names == []


PROGRAM = """
import asyncio, sys
from plait import Engine
from plait.observe.observability import Observability
from tests.observe.flows import chatty

async def main():
    watch = Observability()
    engine = Engine("memory:", definitions=[chatty], observers=watch.observers)
    async with watch.on(engine), engine:
        await (await engine.start(chatty, "hi", id="r1")).result()

asyncio.run(main())
"""
ROOT = Path(__file__).parents[2]


def test_spans_reach_a_collector_over_otlp(receiver: Receiver):
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "OTEL_EXPORTER_OTLP_HEADERS": "x-team=tea",
        "OTEL_SERVICE_NAME": "shop",
        "PYTHONPATH": str(ROOT),
    }
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False
    )
    assert ran.returncode == 0, ran.stderr
    spans: list[str] = []
    for path, sent, body in receiver.requests:
        assert path == "/v1/traces"
        assert sent["x-team"] == "tea"
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            assert {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"] == "shop"
            spans += [span.name for scope in resource.scope_spans for span in scope.spans]
    assert spans == ["step `one`", "step `two`", "step `three`", "run chatty"]


@pytest.mark.parametrize(
    ("environ", "answer"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, True),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
    ],
)
def test_traces_are_wanted_when_the_environment_says_so(environ: dict[str, str], answer: bool):
    assert traces.wanted(environ) is answer


def test_an_exporter_that_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match=r"zipkin.*observe\.bad_exporter"):
        traces.from_environment({"OTEL_TRACES_EXPORTER": "zipkin"})


def test_without_opentelemetry_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "plait.observe.spans", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(PlaitError, match=r"pip install 'plait\[otel\]', or unset.*plait\.missing_extra"):
        traces.from_environment({"OTEL_TRACES_EXPORTER": "otlp"})


def test_opentelemetry_is_not_imported_unless_it_is_wanted():
    program = "import sys, plait.observe.observability as o; o.Observability(); print('opentelemetry' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], env={}, capture_output=True, text=True, timeout=50, check=False
    )
    assert ran.stdout == "False\n", ran.stderr


@handler
async def work(payload: Any) -> Any:
    return payload


async def test_the_work_of_a_node_is_inside_the_span_of_the_node_before(collector: Collector):
    nodes = [
        {"id": "a", "type": "task", "config": {"handler": "work"}},
        {"id": "b", "type": "task", "config": {"handler": "work"}, "dependencies": ["a"]},
        {"id": "c", "type": "task", "config": {"handler": "work"}, "dependencies": ["a"]},
        {"id": "d", "type": "task", "config": {"handler": "work"}, "dependencies": ["b", "c"]},
    ]
    async with collector.engine(work) as engine:
        await (await engine.start(graph({"nodes": nodes}), id="g-1")).result()
    spans = {attributes(s)["node_id"]: s for s in collector.exporter.get_finished_spans() if s.name == "node.execute"}
    assert [parent_of(spans[name]) for name in "bc"] == [where(spans["a"]).span_id] * 2
    both = {where(spans[name]).span_id for name in "bc"}
    assert {parent_of(spans["d"]), *(link.context.span_id for link in spans["d"].links)} == both
    assert parent_of(spans["a"]) == span_id(RunId("g-1"))
    told = attributes(spans["d"])
    assert (told["run_id"], told["hop"], told["attempt"]) == ("g-1", 3, 1)
