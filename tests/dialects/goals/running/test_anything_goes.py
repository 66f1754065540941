"""Whatever people, steps, step servers and crashes do to a run, in any order: its log stays in order, its memory is
what the log says, a live run can say why it waits, and it comes to an end when its steps are let go.
"""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.dialects.goals.steps.builder import StepBuilder, catalog_step
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.ids import Epoch
from plait.testing.history import History
from tests.dialects.goals.running.bench import Bench, BenchRun, work
from tests.support.effort import examples

COUNT = examples(60)

ACTS = [
    "finish",
    "finish",
    "fail",
    "break",
    "answer",
    "refuse",
    "wait",
    "wait long",
    "crash",
    "resume",
    "patch",
    "skip",
]
ENDS = ["cancel", "cancel and undo", "compensate"]


def undoable(building: StepBuilder, id: str) -> StepBuilder:
    return building.python(id, compensate=f"undo-{id}").retries(2, first=5)


STEPS = [
    undoable(work("a", "", "x"), "a"),
    work("b", "", "x").retries(1, first=3),
    undoable(work("m", "", "y").required("q", for_each=True), "m").parallel(2),
    catalog_step("r").output("i").webhook("http://steps.test/r", callback_timeout=60, compensate="http://steps.test/u"),
    catalog_step("child").required("x").output("k", inner="c").flow("inner"),
    work("inner", "x", "c").no_retries(),
    work("use", "x k", "u").optional("i", default=0, deadline=20).when("ale", "true"),
    work("end", "u y", "z").retries(1, first=1),
]


@pytest.mark.costly
@settings(max_examples=COUNT, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(
    acts=st.lists(st.tuples(st.sampled_from([*ACTS, *ACTS, *ENDS]), st.integers(0, 3)), min_size=3, max_size=40),
    cache=st.sampled_from([0, 1000]),
)
@pytest.mark.timeout(max(120, COUNT))
def test_a_run_stays_in_order_whatever_happens_to_it(acts: list[tuple[str, int]], cache: int):
    asyncio.run(_play(acts, cache))


async def _play(acts: list[tuple[str, int]], cache: int) -> None:
    b = Bench(tuple(STEPS), cache)
    b.wire.plays("/r", (202, None))
    b.wire.plays("/u", (200, None))
    await b.open()
    try:
        run = await b.start(("end", "r"), {"q": [1, 2, 3]})
        for what, which in acts:
            await _act(b, run, what, which)
            await _check(b, run)
        await _let_go(b, run)
        await _check(b, run)
    finally:
        await b.close()


async def _act(b: Bench, run: BenchRun, what: str, which: int) -> None:
    open_calls = [call for call in b.calls if not call.answer.done()]
    handle = await run.handle()
    try:
        match what:
            case "finish" | "fail" | "break" if open_calls:
                call = open_calls[which % len(open_calls)]
                if what == "finish":
                    await b.finish(call.step, b.waiting(call.step).index(call), **_given(call.step))
                else:
                    await b.fail(call.step, "no", b.waiting(call.step).index(call), final=what == "break")
            case "answer" | "refuse":
                await run.webhook(b.wire.sent[which % len(b.wire.sent)].token, {"i": 1}, failed=what == "refuse")
            case "wait" | "wait long":
                await b.wait(which if what == "wait" else 70)
            case "crash":
                await b.crash()
            case "resume":
                await handle.retry()
            case "patch":
                await handle.patch([{"op": "set", "name": "xyuk"[which], "value": 0}])
            case "skip":
                await handle.patch([{"op": "skip", "step": ["a", "use", "child", "end"][which]}])
            case "cancel" | "cancel and undo" if which == 0:
                await handle.cancel("enough", compensate=what == "cancel and undo")
            case "compensate":
                await handle.compensate()
            case _:
                pass
    except PlaitError:
        pass  # refused: nothing may have changed, which is checked
    await b.settle()


def _given(name: str) -> dict[str, int]:
    return dict.fromkeys("xyickuz", 1) if not name.startswith("undo-") else {}


async def _let_go(b: Bench, run: BenchRun) -> None:
    """All steps succeed from now on, and all callbacks come; nobody gives up."""
    for name in ("a", "b", "m", "inner", "use", "end", "undo-a", "undo-m"):
        b.plays(name, _given(name))
    for _ in range(20):
        for call in [call for call in b.calls if not call.answer.done()]:
            call.answer.set_result(_given(call.step))
        await b.settle()
        if await run.status() != "running":
            return
        await _act(b, run, "resume", 0)  # a compensator that was exhausted waits for someone who says so
        for sent in b.wire.to("/r"):
            await run.webhook(sent.token, {"i": 1})
        await b.wait(30)
    raise AssertionError(f"it never ends: {await run.reasons()}\n{await run.tale()}")


async def _check(b: Bench, run: BenchRun) -> None:
    handle = await run.handle()
    row = await handle.row()
    history = History(await handle.events())
    history.assert_recorded_once()
    history.assert_not_early()
    assert row.blocked is None, row.blocked
    assert (row.status != "running") == history.ended, history
    live = await b.engine.kernel.peek(row)
    folded = await b.engine.kernel.loader.load(row, Epoch(0))
    assert values.decode(live.machine.snapshot()) == values.decode(folded.machine.snapshot()), history
    if row.status == "running":
        assert await run.reasons(), history
    await handle.view()
