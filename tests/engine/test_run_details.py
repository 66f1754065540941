"""What a page shows of a run: as it is and as it was, when what happened, what tasks said, what differs."""

import logging
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from plait import Context, Retry, Undo, step, step_log, workflow
from plait.engine.diff import MOST, changes
from plait.engine.timeline import bars
from plait.errors import InvalidInput, PlaitError
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.kernel.view import Node
from plait.workers.local import THREADS
from tests.engine.flows import echo, listener
from tests.engine.places import Place, soon, until


@workflow
async def adds(ctx: Context, numbers: list[int]) -> int:
    total = 0
    for place, number in enumerate(numbers):
        total = await ctx.step(f"add{place}", lambda a=total, b=number: a + b)
    return total


# -- as it was -------------------------------------------------------------------------------------------------------


async def test_a_run_is_shown_as_it_was_after_each_of_its_events(place: Place):
    async with place.engine(adds) as engine:
        run = await engine.start(adds, [1, 2])
        await run.result()
        last = (await run.picture()).seq
        pictures = [await run.picture(at) for at in range(1, last + 1)]
        assert [len(p.view.nodes) for p in pictures] == sorted(len(p.view.nodes) for p in pictures)
        assert {p.view.status for p in pictures[:-1]} == {"running"}
        assert (pictures[-1].view.status, pictures[-1].output) == ("completed", 3)
        assert all(p.input == [1, 2] and p.actions == ["fork"] and p.seq == last for p in pictures)


@pytest.mark.parametrize("at", [0, -1, 99])
async def test_a_moment_that_never_was_is_refused(place: Place, at: int):
    async with place.engine(echo) as engine:
        run = await engine.start(echo, 1)
        await run.result()
        with pytest.raises(InvalidInput) as caught:
            await run.picture(at)
        assert caught.value.code == "kernel.bad_moment"


async def test_what_can_be_done_depends_on_how_the_run_stands(place: Place):
    async with place.engine(echo, listener) as engine:
        ended, going = await engine.start(echo, 1), await engine.start(listener)
        await ended.result()
        assert "compensate" in (await ended.picture()).actions
        assert {"cancel", "message"} <= set((await going.picture()).actions)
        await going.cancel()
        assert "retry" in (await soon(lambda: _ended(going))).actions


async def _ended(run: Any) -> Any:
    picture = await run.picture()
    return picture if picture.row.status != "running" else None


# -- rollback --------------------------------------------------------------------------------------------------------


@step
async def book() -> int:
    return 1


@step(max_attempts=1)
async def unbook(undo: Undo) -> None:
    if Phone.dead:
        raise ConnectionError("nobody answers")


class Phone:
    dead = False


@workflow
async def regrets(ctx: Context) -> None:
    await ctx.step("hotel", book, rollback=unbook)
    await ctx.step("flight", book, rollback=unbook)
    raise ValueError("it rains")


async def test_what_was_undone_is_shown_beside_the_steps(place: Place):
    async with place.engine(regrets) as engine:
        run = await engine.start(regrets)
        await soon(lambda: _ended(run))
        view = await run.view()
        undone = [node for node in view.nodes if node.kind == "rollback"]
        assert [(node.label, node.status) for node in undone] == [
            ("rollback of `flight`", "completed"),
            ("rollback of `hotel`", "completed"),
        ]
        assert {(edge.source, edge.target) for edge in view.edges if edge.label} == {
            ("flight", undone[0].id),
            ("hotel", undone[1].id),
        }


async def test_a_rollback_that_is_stuck_shows_where(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Phone, "dead", True)
    async with place.engine(regrets) as engine:
        run = await engine.start(regrets)
        [letter] = await soon(engine.dlq.list)
        nodes = {node.label: node for node in (await run.view()).nodes if node.kind == "rollback"}
        assert nodes["rollback of `flight`"].status == "failed"
        assert nodes["rollback of `hotel`"].status == "pending"
        monkeypatch.setattr(Phone, "dead", False)
        await engine.dlq.retry(letter.id)
        await soon(lambda: _ended(run))
        assert {node.status for node in (await run.view()).nodes} == {"completed"}


# -- timeline --------------------------------------------------------------------------------------------------------


def node(**changes: Any) -> Node:
    facts: dict[str, Any] = {"id": "pay", "kind": "step", "label": "pay", "status": "completed", "token": "pay"}
    times: dict[str, Any] = {"started_at": Millis(100), "ended_at": Millis(900)}
    return Node(**(facts | times | changes))


def failed(seq: int, at: int, due: int, **more: Any) -> Recorded:
    error = {"code": "task.failed", "message": "no", "kind": more.pop("kind", "error")}
    data = {"token": "pay", "attempt": seq, "due": due, "error": error, **more}
    return Recorded(seq, Millis(at), "task.retry_scheduled", data)


def test_attempts_and_the_waits_between_them_are_apart():
    [bar] = bars([node()], [failed(1, 200, 400), failed(2, 500, 800, kind="timeout")], Millis(1_000))
    assert [(t.number, t.started_at, t.ended_at, t.outcome, t.retry_at) for t in bar.tries] == [
        (1, 100, 200, "failed", 400),
        (2, 400, 500, "timed_out", 800),
        (3, 800, 900, "completed", None),
    ]


def test_time_in_a_queue_is_apart():
    [bar] = bars([node(queued=Millis(50))], [failed(1, 200, 400, queued=30)], Millis(1_000))
    assert [(t.queued_at, t.started_at) for t in bar.tries] == [(100, 130), (400, 450)]


def test_a_task_that_waits_for_its_next_attempt_has_none_under_way():
    waiting = node(status="retrying", ended_at=None)
    assert [t.outcome for t in bars([waiting], [failed(1, 200, 400)], Millis(300))[0].tries] == ["failed"]
    assert [t.outcome for t in bars([waiting], [failed(1, 200, 400)], Millis(500))[0].tries] == ["failed", "running"]


def test_a_run_that_ends_before_the_next_try_has_none() -> None:
    stopped = node(status="cancelled", ended_at=Millis(300))
    assert [t.outcome for t in bars([stopped], [failed(1, 200, 400)], Millis(900))[0].tries] == ["failed"]


def test_a_failed_task_ends_with_a_failed_attempt_that_says_why():
    [bar] = bars([node(status="failed", error=ErrorInfo("x", "broke"))], [], Millis(1_000))
    assert [(t.outcome, t.error) for t in bar.tries] == [("failed", ErrorInfo("x", "broke"))]


def test_what_is_no_task_has_no_attempts():
    [bar] = bars([node(kind="sleep", token=None)], [], Millis(1_000))
    assert (bar.started_at, bar.ended_at, bar.tries) == (100, 900, [])


async def test_a_task_that_is_tried_again_after_its_run_failed_shows_the_time_between_as_no_attempt(place: Place):
    broken = [True]

    def fragile() -> str:
        if broken:
            raise ConnectionError("not yet")
        return "ok"

    @workflow
    async def tries(ctx: Context) -> str:
        return await ctx.step("fragile", fragile, retry=Retry(max_attempts=2, first=0.001))

    async with place.engine(tries) as engine:
        run = await engine.start(tries)
        with pytest.raises(PlaitError):
            await run.result()
        assert [t.outcome for t in (await run.timeline())[0].tries] == ["failed", "failed"]
        broken.clear()
        await run.retry()
        await soon(lambda: _completed(run))
        [bar] = await run.timeline()
        [reopened] = [event.at for event in await run.events() if event.type == "run.reopened"]
        assert [t.outcome for t in bar.tries] == ["failed", "failed", "completed"]
        _, before, after = bar.tries
        assert before.ended_at is not None
        # On a busy machine it waits for a thread first
        assert before.ended_at <= reopened == (after.started_at if after.queued_at is None else after.queued_at)


async def _completed(run: Any) -> bool:
    return await run.status() == "completed"


def test_a_failure_that_is_not_tried_again_ends_with_its_run_and_begins_again_with_it():
    failed_run = Recorded(1, Millis(200), "run.failed", {"error": {"code": "x", "message": "broke"}})
    reopened = Recorded(2, Millis(700), "run.reopened", {"cause": "retry"})
    [bar] = bars([node()], [failed_run, reopened], Millis(1_000))
    assert [(t.started_at, t.ended_at, t.outcome) for t in bar.tries] == [(100, 200, "failed"), (700, 900, "completed")]
    [bar] = bars([node(ended_at=Millis(150))], [failed_run, reopened], Millis(1_000))
    assert [(t.started_at, t.ended_at, t.outcome) for t in bar.tries] == [(100, 150, "completed")]


async def test_the_timeline_of_a_real_run_counts_its_attempts(place: Place):
    calls: list[int] = []

    def flaky() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionError("not yet")
        return "ok"

    @workflow
    async def tries(ctx: Context) -> str:
        return await ctx.step("flaky", flaky, retry=Retry(max_attempts=5, first=0.001))

    async with place.engine(tries) as engine:
        run = await engine.start(tries)
        await run.result()
        [bar] = await run.timeline()
        assert [t.outcome for t in bar.tries] == ["failed", "failed", "completed"]
        assert [t.error is not None for t in bar.tries] == [True, True, False]


async def test_a_step_that_waits_for_a_thread_says_how_long(place: Place):
    gate, inside = threading.Event(), list[int]()

    def wait() -> bool:
        inside.append(1)
        return gate.wait()

    @workflow
    async def wide(ctx: Context) -> None:
        await ctx.join("all", **{f"b{n}": lambda c, n=n: c.step(f"s{n}", wait) for n in range(THREADS + 1)})

    async with place.engine(wide) as engine:
        run = await engine.start(wide)
        await until(lambda: len(inside) == THREADS)
        threading.Timer(0.05, gate.set).start()
        await run.result()
        assert max(node.queued for node in (await run.view()).nodes) >= 40


# -- logs ------------------------------------------------------------------------------------------------------------


@workflow
async def talkative(ctx: Context) -> None:
    async def speak() -> None:
        step_log("on the loop")
        step_log("careful", level="warning")

    def shout() -> None:
        step_log("in a thread\0")

    await ctx.step("speak", speak)
    await ctx.step("shout", shout)


async def test_what_steps_say_is_kept_with_them(place: Place):
    async with place.engine(talkative) as engine:
        run = await engine.start(talkative)
        await run.result()
        lines = await soon(lambda: _lines(run, 3))
        assert [(line.node, line.attempt, line.level, line.text) for line in lines] == [
            ("speak", 1, "info", "on the loop"),
            ("speak", 1, "warning", "careful"),
            ("shout", 1, "info", "in a thread�"),
        ]
        assert await run.logs("shout") == lines[2:]
        assert await run.logs(after=lines[0].id, limit=1) == lines[1:2]


async def test_what_was_said_last_is_kept_when_the_engine_closes(place: Place):
    async with place.engine(talkative) as engine:
        await (await engine.start(talkative, id="t")).result()
    async with place.engine() as engine:
        assert len(await (await engine.get("t")).logs()) == 3


async def test_a_step_that_never_stops_talking_is_cut_short(place: Place):
    @workflow
    async def endless(ctx: Context) -> None:
        async def speak() -> None:
            for number in range(1_200):
                step_log(f"{number} " + "x" * 5_000)

        await ctx.step("speak", speak)

    async with place.engine(endless) as engine:
        run = await engine.start(endless)
        await run.result()
        lines = await soon(lambda: _lines(run, 1_001))
        assert (len(lines), lines[-1].level) == (1_001, "warning")
        assert len(lines[0].text) < 4_010


async def _lines(run: Any, count: int) -> Any:
    found = await run.logs(limit=5_000)
    return found if len(found) >= count else None


def test_a_step_log_outside_a_step_is_refused():
    with pytest.raises(PlaitError, match="outside a step"):
        step_log("hello")
    logging.getLogger(__name__).debug("plain logging is not our business")


# -- differences -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ({"x": 1}, {"x": 1}, []),
        ({"x": 1}, {"x": 2}, [("/x", "changed")]),
        ({"x": 1}, {"y": 1}, [("/x", "removed"), ("/y", "added")]),
        ([1, 2], [1], [("/1", "removed")]),
        ([1], [1, {"a": 2}], [("/1", "added")]),
        ({"a/b": {"~": [0]}}, {"a/b": {"~": [1]}}, [("/a~1b/~0/0", "changed")]),
        (1, True, [("", "changed")]),
        (0, False, [("", "changed")]),
        (None, {}, [("", "changed")]),
        (1, 1.0, []),
    ],
    ids=repr,
)
def test_what_differs_is_told_with_its_place(a: Any, b: Any, found: list[tuple[str, str]]):
    assert [(change.path, change.kind) for change in changes(a, b)] == found


def test_two_values_with_nothing_in_common_do_not_fill_the_page():
    assert len(changes(list(range(5_000)), [])) == MOST


async def test_two_runs_are_compared_node_by_node(place: Place):
    async with place.engine(adds) as engine:
        a, b = await engine.start(adds, [1, 2]), await engine.start(adds, [1, 3, 4])
        await a.result()
        await b.result()
        diff = await engine.diff(a, b)
        assert [(node.id, node.change) for node in diff.nodes] == [
            ("add0", "same"),
            ("add1", "changed"),
            ("add2", "only_b"),
        ]
        assert [change.path for change in diff.nodes[1].changes] == ["/output"]
        assert [(change.path, change.kind) for change in diff.input] == [("/1", "changed"), ("/2", "added")]
        assert [(change.a, change.b) for change in diff.output] == [(3, 8)]


# -- definitions -----------------------------------------------------------------------------------------------------


@dataclass
class Parcel:
    sku: str
    count: int = 1


def version(label: str | None, factor: int) -> Any:
    @workflow(name="pack", version=label)
    async def pack(ctx: Context, parcel: Parcel) -> int:
        """Packs a parcel."""
        return parcel.count * factor

    return pack


async def test_definitions_are_described_for_people_and_forms(place: Place):
    async with place.engine(version(None, 2), echo) as engine:
        echoes, packs = await engine.definitions.list()
        assert (echoes.name, packs.name, packs.doc, packs.loaded) == ("echo", "pack", "Packs a parcel.", True)
        assert "sku" in str(packs.input_schema)
        description, facts = await engine.definitions.version("pack", packs.version)
        assert "parcel.count * factor" in description.source
        assert facts.loaded


async def test_an_input_that_may_be_left_out_is_described_with_its_default(place: Place):
    @workflow
    async def waits(ctx: Context, parcel: Parcel = Parcel("tea")) -> None:  # noqa: B008
        return None

    async with place.engine(waits) as engine:
        assert (await engine.definitions.get("waits")).input_schema["default"] == {"sku": "tea", "count": 1}


async def test_versions_that_are_not_loaded_any_more_are_remembered(place: Place):
    async with place.engine(version("v1", 1)) as engine:
        await engine.definitions.remember()
        await engine.definitions.remember()
    async with place.engine(version("v2", 2)) as engine:
        await engine.definitions.remember()
        packs = await engine.definitions.get("pack")
        assert [(v.version, v.loaded) for v in packs.versions] == [("v2", True), ("v1", False)]
        description, _ = await engine.definitions.version("pack", "v1")
        assert "Packs a parcel" in description.source


async def test_a_tag_leads_to_its_version_and_can_be_moved(place: Place):
    async with place.engine(version("v1", 1), version("v2", 2)) as engine:
        await engine.definitions.tag("pack", "stable", "v1")
        assert await engine.definitions.resolve("pack@stable") == "pack@v1"
        found = await engine.definitions.tag("pack", "stable", "v2")
        assert found.tags == {"stable": "v2"}
        run = await engine.start(await engine.definitions.resolve("pack@stable"), {"sku": "tea", "count": 4})
        assert await run.result() == 8
        assert (await engine.definitions.get("pack", "acme")).tags == {}
        assert (await engine.definitions.untag("pack", "stable")).tags == {}


async def test_a_tag_on_a_version_without_a_label_starts_it(place: Place):
    async with place.engine(version(None, 3)) as engine:
        packs = await engine.definitions.get("pack")
        await engine.definitions.tag("pack", "now", packs.version)
        assert await engine.definitions.resolve("pack@now") == "pack"


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda d: d.get("pakc"), "definitions.unknown"),
        (lambda d: d.version("pack", "v9"), "definitions.no_version"),
        (lambda d: d.tag("pack", "a@b", "v1"), "definitions.bad_tag"),
        (lambda d: d.tag("pack", "", "v1"), "definitions.bad_tag"),
        (lambda d: d.tag("pack", "x", "v9"), "definitions.no_version"),
        (lambda d: d.untag("pack", "x"), "definitions.no_tag"),
    ],
)
async def test_what_is_not_there_is_said(place: Place, ask: Any, code: str):
    async with place.engine(version("v1", 1)) as engine:
        with pytest.raises(PlaitError) as caught:
            await ask(engine.definitions)
        assert caught.value.code == code


async def test_a_plan_checks_what_a_start_would(place: Place):
    async with place.engine(version("v1", 1)) as engine:
        plan = await engine.plan("pack@v1", {"sku": "tea"})
        assert (plan.definition, plan.version, plan.input) == ("pack", "v1", {"sku": "tea"})
        with pytest.raises(InvalidInput):
            await engine.plan("pack@v1", {"count": 1})
