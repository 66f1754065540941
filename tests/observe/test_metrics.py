"""The numbers are right, bounded, and cost next to nothing."""

import asyncio
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from plait import Context, Engine, afl, graph, handler, step, workflow
from plait.errors import Conflict, RunFailed, Unavailable
from plait.kernel.events import Event, RunStarted, TokenRejected
from plait.kernel.ids import Millis, RunId
from plait.kernel.machine import RunInfo
from plait.kernel.store import Verdict, Write
from plait.observe.counters import HttpMeter
from plait.observe.lag import LoopLag
from plait.observe.metrics import Metrics, render
from plait.observe.tally import Tally
from plait.observe.token_flow import TokenFlow
from plait.stores.memory import MemoryStore
from tests.engine.places import soon, until
from tests.observe.flows import asking, chatty, echo, failing


async def numbers(engine: Engine) -> dict[str, float]:
    """By name and labels, as Prometheus reads them."""
    text = (await render(engine)).decode()
    return {
        sample.name + "".join(f"|{value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def watched(*definitions: object, store: MemoryStore | None = None) -> Engine:
    metrics = Metrics()
    engine = Engine("memory:", definitions=definitions, observers=[metrics], store=store)
    metrics.follow(engine)
    return engine


async def test_runs_are_counted_by_definition_dialect_and_end():
    async with watched(echo, failing) as engine:
        for number in range(3):
            await (await engine.start(echo, number)).result()
        with pytest.raises(RunFailed):
            await (await engine.start(failing)).result()
        await (await engine.start(asking)).cancel()
        found = await numbers(engine)
    assert found["plait_runs_started_total|echo|code|started"] == 3
    assert found["plait_runs_ended_total|echo|code|completed"] == 3
    assert found["plait_runs_ended_total|failing|code|failed"] == 1
    assert found["plait_runs_ended_total|asking|code|cancelled"] == 1
    assert found["plait_run_seconds_count|completed"] == 3


async def test_attempts_retries_and_dead_letters_are_counted():
    async with watched(chatty, failing) as engine:
        await (await engine.start(chatty, "hi")).result()
        with pytest.raises(RunFailed):
            await (await engine.start(failing)).result()
        found = await numbers(engine)
    assert found["plait_task_attempts_started_total"] == 5
    assert found["plait_task_attempts_ended_total|succeeded"] == 3
    assert found["plait_task_attempts_ended_total|failed"] == 2
    assert found["plait_task_retries_total"] == 1
    assert found["plait_task_dead_letters_total"] == 1
    assert found["plait_dead_letters_pending"] == 1


@step
async def hang() -> None:
    await asyncio.Event().wait()


@workflow
async def hanging(ctx: Context) -> None:
    await ctx.step("one", hang)


async def test_an_attempt_that_is_cancelled_was_stopped():
    metrics = Metrics()
    async with Engine("memory:", definitions=[hanging], observers=[metrics]) as engine:
        handle = await engine.start(hanging)
        await until(lambda: metrics.attempts == 1)
        assert (await numbers(engine))["plait_tasks_running"] == 1
        await handle.cancel()
        await until(lambda: metrics.stopped == 1)
        assert (await numbers(engine))["plait_tasks_running"] == 0


async def test_commits_events_and_group_sizes_are_counted():
    async with watched(echo) as engine:
        await asyncio.gather(*(engine.start(echo, number) for number in range(20)))
        found = await numbers(engine)
        events = sum([len(await (await engine.get(row.id)).events()) for row in await engine.runs()])
    assert found["plait_events_total"] == events
    assert found["plait_decisions_total"] == 20
    assert found["plait_commit_writes_sum"] == 20
    assert 1 <= found["plait_commit_writes_count"] < 20
    assert found["plait_commit_seconds_count"] == found["plait_commit_writes_count"]


async def test_what_waits_and_who_owns_is_shown():
    async with watched(asking) as engine:
        handle = await engine.start(asking)
        await soon(engine.approvals.list)
        with engine.kernel.subscriptions.run(RunId(handle.id)):
            found = await numbers(engine)
    assert found["plait_approvals_open"] == 1
    assert found["plait_inbox_waiting"] == 0
    assert found["plait_runs_in_memory"] == found["plait_runs_parked"] == 1
    assert found["plait_shards_owned"] == 64
    assert found["plait_shards_unowned"] == 0
    assert found["plait_engines"] == 1
    assert found["plait_feed_watchers"] == 1
    assert found["plait_runs_blocked"] == 0
    assert found["plait_store_up"] == 1


async def test_what_the_store_knows_is_counted_on_postgresql(postgres_url: str):
    async with Engine(postgres_url, definitions=[asking, failing], observers=[Metrics()]) as engine:
        await engine.start(asking)
        await soon(engine.approvals.list)
        with pytest.raises(RunFailed):
            await (await engine.start(failing)).result()
        found = await numbers(engine)
    assert found["plait_approvals_open"] == found["plait_dead_letters_pending"] == found["plait_engines"] == 1
    assert found["plait_shards_unowned"] == found["plait_timer_lag_seconds"] == 0


async def test_shards_of_nobody_are_shown_by_an_engine_that_only_looks():
    async with Engine("memory:", definitions=[asking], work=False, observers=[Metrics()]) as engine:
        found = await numbers(engine)
        handle = await engine.start(asking)
        await handle.message("go")
        later = Metrics()
        waiting = (await later.render(engine)).decode()
    assert found["plait_shards_owned"] == 0
    assert found["plait_shards_unowned"] == 64
    assert "plait_inbox_waiting 2.0" in waiting  # its start, and the message


async def test_shards_of_an_engine_that_died_count_as_nobodys():
    store = MemoryStore()
    await store.open()
    await store.claim("died", Millis(0), 64)
    async with Engine("memory:", work=False, observers=[Metrics()], store=store) as engine:
        found = await numbers(engine)
    assert found["plait_shards_unowned"] == 64
    assert found["plait_engines"] == 0


class FailsOnce(MemoryStore):
    failed = False

    async def commit(self, writes: Sequence[Write]) -> list[Verdict]:
        if any(write.log for write in writes) and not self.failed:
            self.failed = True
            raise Unavailable("store.away", "gone for a moment")
        return await super().commit(writes)


async def test_store_errors_are_counted():
    async with watched(echo, store=FailsOnce()) as engine:
        with pytest.raises(Unavailable):
            await engine.start(echo, 1)
        await (await engine.start(echo, 1)).result()
        assert (await numbers(engine))["plait_store_errors_total"] >= 1


class Silent(MemoryStore):
    async def owners(self):
        raise Unavailable("store.away", "gone")


async def test_while_the_store_is_away_its_numbers_are_left_out():
    async with watched(store=Silent()) as engine:
        found = await numbers(engine)
    assert found["plait_store_up"] == 0
    assert "plait_approvals_open" not in found
    assert "plait_decisions_total" in found


class Away(MemoryStore):
    asked = 0

    async def owners(self):
        self.asked += 1
        raise Unavailable("store.away", "gone")


async def test_a_store_that_is_away_is_not_asked_by_every_scrape():
    store = Away()
    async with watched(store=store) as engine:
        for _ in range(3):
            assert (await numbers(engine))["plait_store_up"] == 0
    assert store.asked == 1


class Counted(MemoryStore):
    asked = 0

    async def owners(self):
        self.asked += 1
        return await super().owners()


async def test_many_scrapes_ask_the_store_once():
    store = Counted()
    async with watched(store=store) as engine:
        await asyncio.gather(*(render(engine) for _ in range(10)))
    assert store.asked == 1


async def test_two_engines_count_apart():
    async with watched(echo) as one, watched(echo) as other:
        await (await one.start(echo, 1)).result()
        assert (await numbers(one))["plait_runs_started_total|echo|code|started"] == 1
        assert "plait_runs_started_total|echo|code|started" not in await numbers(other)


async def test_an_engine_without_metrics_says_how_to_get_them():
    async with Engine("memory:") as engine:
        with pytest.raises(Conflict, match=r"observers=\[Metrics\(\)\].*observe\.no_metrics"):
            await render(engine)


def started(definition: str) -> tuple[RunInfo, list[Event], Millis]:
    return RunInfo(RunId("r"), "default", "code", definition), [RunStarted("code", definition)], Millis(1)


def test_a_program_that_makes_up_definitions_does_not_fill_the_memory():
    metrics = Metrics()
    for number in range(1000):
        metrics.committed(*started(f"made-up-{number}"))
    assert len(metrics.runs) == 201
    assert metrics.runs["code", "other", "started"] == 800


def test_paths_given_as_routes_do_not_fill_the_memory():
    meter = HttpMeter()
    for number in range(1000):
        meter.observe(f"GET /runs/{number}", 200, 0.1)
    assert len(meter.seconds) == 301
    assert sum(meter.requests.values()) == 1000


async def test_http_requests_are_counted_by_route_and_status():
    metrics = Metrics()
    async with Engine("memory:", observers=[metrics]) as engine:
        metrics.http.observe("GET /api/v1/runs/{id}", 200, 0.004)
        metrics.http.observe("GET /api/v1/runs/{id}", 404, 0.002)
        found = await numbers(engine)
    assert found["plait_http_requests_total|GET /api/v1/runs/{id}|404"] == 1
    assert found["plait_http_request_seconds_count|GET /api/v1/runs/{id}"] == 2
    assert found["plait_http_request_seconds_bucket|0.0025|GET /api/v1/runs/{id}"] == 1


def test_a_value_on_a_bound_belongs_below_it():
    tally = Tally((1, 2))
    for value in (0.5, 1, 1.5, 3):
        tally.add(value)
    assert dict(tally.buckets()) == {"1.0": 2, "2.0": 3, "+Inf": 4}
    assert tally.total == 6


async def test_the_lag_of_a_blocked_loop_is_seen_by_whoever_asks():
    lag = LoopLag()
    lag.start()
    time.sleep(0.35)  # what is measured: code that holds up the loop
    await until(lambda: lag.seconds.total > 0)
    lag.stop()
    assert lag.worst >= 0.09
    assert lag.worst >= 0.09


async def test_an_old_lag_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.observe.lag._SPAN", 0.05)
    lag = LoopLag()
    lag.start()
    time.sleep(0.35)
    await until(lambda: lag.worst >= 0.09)
    await until(lambda: lag.worst < 0.09)
    lag.stop()


class HandLoop(asyncio.SelectorEventLoop):
    """A loop whose time is told; nothing runs on it."""

    at = 0.0

    def time(self) -> float:
        return self.at


def test_the_worst_lag_is_that_of_the_whole_last_minute():
    loop, lag = HandLoop(), LoopLag()
    loop.at = 29.0
    lag._tick(loop, due=27.0)
    for second in range(30, 89):
        loop.at = second
        lag._tick(loop, due=second)
        assert lag.worst == 2.0
    for second in range(89, 100):
        loop.at = second
        lag._tick(loop, due=second)
    assert lag.worst == 0.0
    lag.stop()
    loop.close()


async def test_the_guide_lists_every_metric_and_no_other():
    metrics = Metrics()
    async with Engine("memory:", observers=[metrics]) as engine:
        assert engine.bundles  # those that nobody has asked for have no numbers
        text = (await metrics.render(engine)).decode()
    given = set(re.findall(r"^# TYPE ((?:plait|workflow)_\w+)", text, re.MULTILINE))
    guide = (Path(__file__).parents[2] / "docs/guides/observability.md").read_text()
    assert set(re.findall(r"`((?:plait|workflow)_[a-z_]+)`", guide)) == given


# -- tokens ------------------------------------------------------------------------------------------------------------


@handler
async def flaky(payload: Any, ctx: Any) -> Any:
    if ctx.attempt == 1:
        raise ConnectionError("not yet")
    return payload


SPLIT: dict[str, Any] = {
    "name": "split",
    "nodes": [
        {"id": "a", "type": "task", "config": {"handler": "flaky"}, "retry": {"max_attempts": 2, "backoff_ms": 1}},
        {"id": "b", "type": "transform", "config": {"output": 1}, "dependencies": ["a"]},
        {"id": "c", "type": "transform", "config": {"output": 2}, "dependencies": ["a"]},
        {"id": "d", "type": "human", "dependencies": ["b", "c"], "human_config": {"approvers": ["ada"]}},
        {"id": "e", "type": "transform", "config": {"output": 3}, "dependencies": ["d"]},
    ],
}


async def test_tokens_are_counted_by_workflow_and_node():
    async with watched(flaky) as engine:
        run = await engine.start(graph(SPLIT), id="g-1")
        [asked] = await soon(lambda: engine.approvals.list())
        during = await numbers(engine)
        await engine.approvals.decide(asked.id, "approve", by="ada")
        await run.result()
        found = await numbers(engine)
    name = next(key for key in found if key.startswith("workflow_tokens_consumed_total")).split("|")[-1]
    assert found[f"workflow_tokens_consumed_total|a|{name}"] == 1
    assert found[f"workflow_tokens_consumed_total|d|{name}"] == 2
    assert found[f"workflow_tokens_emitted_total|2-5|a|{name}"] == 2
    assert found[f"workflow_tokens_emitted_total|1|b|{name}"] == 1
    assert found[f"workflow_retries_total|ConnectionError|a|{name}"] == 1
    assert found[f"workflow_hop_latency_ms_count|a|b|{name}"] == 1
    assert during[f"workflow_counter_divergence|{name}"] == 0
    assert (during[f"workflow_counter_value|{name}"], found["workflow_dlq_size"]) == (0, 0)
    assert found["workflow_stalled_runs"] == 0


def test_nodes_that_are_made_up_do_not_fill_the_memory():
    flow = TokenFlow()
    for number in range(3_000):
        flow.note(RunId("r"), "w", f"n{number}", TokenRejected("forged", node=f"n{number}"), Millis(0))
    assert len(flow.rejections) == 2_001
    assert flow.rejections["other", "other"] == 1_000


SUM = """namespace m {
    event facet Ask(x: Long) => (n: Long)
    facet Value(input: Long)
    workflow W(x: Long) => (n: Long) andThen {
        a = Ask(x = $.x)
        b = Value(input = 1 / $.x) catch { }
        yield W(n = a.n)
    }
}"""


async def test_telemetry_of_afl_is_counted_and_the_same_whether_someone_listens_or_not():
    told: dict[bool, dict[str, float]] = {}
    for listening in (False, True):
        async with watched() as engine:
            if listening:
                engine.afl.telemetry(lambda record: None)
            engine.afl.handler("Ask", lambda payload: {"n": payload["x"]})
            for x in (1, 0):
                await (await engine.start(afl(SUM), {"x": x})).result()
            found = await numbers(engine)
        told[listening] = {name: value for name, value in found.items() if name.startswith("plait_afl_telemetry")}
    assert told[False] == told[True]
    counts = told[False]
    assert counts["plait_afl_telemetry_total|workflow.complete"] == 2
    assert counts["plait_afl_telemetry_total|event.published"] == 2
    assert counts["plait_afl_telemetry_total|step.error"] == 1
    assert counts["plait_afl_telemetry_total|dependency.resolved"] == 2
    assert counts["plait_afl_telemetry_total|iteration.start"] == counts["plait_afl_telemetry_total|iteration.end"]
    assert counts["plait_afl_telemetry_dropped_total"] == 0


async def test_times_of_schedules_are_counted_by_what_became_of_them():
    async with watched(echo, asking) as engine:
        await engine.schedules.create("yearly", asking, cron="0 0 1 1 *")
        await engine.schedules.trigger("yearly")
        await soon(lambda: engine.schedules.fires("yearly"))
        with pytest.raises(Conflict):
            await engine.schedules.trigger("yearly")
        found = await numbers(engine)
    assert found["plait_schedule_times_total|trigger|started"] == 1
    assert found["plait_schedule_times_total|time|missed"] == 0  # an alert sees the first one
    assert found["plait_schedule_delay_seconds_total"] == 0


async def test_runs_on_queues_are_told_by_state():
    async with watched(asking) as engine:
        await engine.queues.set("mails", concurrency=1)
        for _ in range(3):
            await engine.start(asking, queue="mails")
        await engine.start(asking, queue="mails", delay=60)
        await soon(lambda: engine.queues.holders("mails"))
        found = await numbers(engine)
    assert [found[f"plait_queue_runs|default|mails|{state}"] for state in ("waiting", "delayed", "running")] == [
        2,
        1,
        1,
    ]
    assert found["plait_queue_oldest_run_seconds|default|mails"] >= 0
