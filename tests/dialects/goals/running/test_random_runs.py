"""Random catalogs, executed: what ran is what the plan says, nothing hangs, and the outcome is the interpreter's."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait import goals
from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step
from plait.kernel import values
from plait.kernel.errors import PlaitError
from plait.kernel.ids import Epoch
from plait.kernel.task import current_attempt
from plait.testing.history import History
from tests.dialects.goals.catalogs import COLLECTING, IDS, NAMES, refusal
from tests.dialects.goals.reference import outputs
from tests.dialects.goals.running.bench import Bench, BenchRun, boom
from tests.dialects.goals.running.interpreter import Interpreter, Luck
from tests.support.effort import examples

COUNT = examples(60)
_LONGEST = 100 * 366 * 86_400_000


@dataclass(frozen=True)
class Case:
    steps: dict[str, Step]
    lucks: dict[str, Luck]
    goals: list[str]
    init: list[str]
    cache: int
    crashes: list[int]
    """After so many alarms the process dies."""


@st.composite
def lucky(draw: st.DrawFn, step: Step) -> Luck:
    return Luck(
        ends=draw(st.sampled_from(["well", "well", "well", "late", "badly"])),
        takes=draw(st.sampled_from([0, 0, 1, 2, 7])),
        forgets=frozenset(draw(st.lists(st.sampled_from([*outputs(step), "-"]), max_size=1))),
        refuses=draw(st.integers(0, 5)) == 0,
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    catalog = Catalog()
    lucks: dict[str, Luck] = {}
    for id in IDS:
        kinds = draw(st.lists(st.sampled_from(COLLECTING), min_size=len(NAMES), max_size=len(NAMES)))
        attributes = {name: each for name, each in zip(NAMES, kinds, strict=True) if each is not None}
        attributes = _decided(attributes)
        step = _step(id, attributes)
        luck = lucks[id] = draw(lucky(step))
        if luck.refuses or draw(st.booleans()):
            said = "false" if luck.refuses else "true"
            step = _step(id, attributes, predicate={"language": "ale", "script": said})
        refusal(catalog, ("register", step))
    wanted = draw(st.lists(st.sampled_from(sorted(catalog.steps)), min_size=1, max_size=2, unique=True))
    return Case(
        catalog.steps,
        lucks,
        wanted,
        draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True)),
        draw(st.sampled_from([0, 1000])),
        draw(st.lists(st.integers(0, 6), max_size=2)),
    )


def _decided(attributes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A step that wants none of a name is skipped when there is one, and fails when another input is lost: which comes
    first is a matter of time. So it wants nothing else."""
    if not any(each == {"role": "required", "collect": "none"} for each in attributes.values()):
        return attributes
    return {
        name: each for name, each in attributes.items() if each["role"] != "required" or each.get("collect") == "none"
    }


def _step(id: str, attributes: dict[str, dict[str, Any]], **more: Any) -> Step:
    retries = {"max_retries": 2, "init_backoff": 1000}
    told = {"type": "python", "python": {"handler": "h"}, "work_config": retries}
    return read_step({"id": id, "name": id, "attributes": attributes, **told, **more})


class Lucky(Bench):
    """A bench whose one function does for each step what its luck says."""

    def __init__(self, case: Case) -> None:
        super().__init__((), case.cache)
        self._case = case

    def prepare(self) -> None:
        self.engine.goals.handlers.add("h", self._work)

    async def open(self) -> None:
        await super().open()
        async with self.engine.catalog.transaction() as changes:
            for step in self._case.steps.values():
                changes.upsert(step)

    async def _work(self, **inputs: Any) -> dict[str, Any]:
        attempt = current_attempt.get()
        assert attempt is not None
        luck = self._case.lucks[attempt.task.label]
        self.calls.append((attempt.task.label, attempt.number))  # pyright: ignore
        if luck.takes:
            await self.clock.sleep(luck.takes)
        if luck.ends == "badly":
            raise boom("bad luck", final=True)
        if luck.ends == "late" and attempt.number == 1:
            raise boom("not yet")
        return {
            name: name.upper() for name in outputs(self._case.steps[attempt.task.label]) if name not in luck.forgets
        }


@pytest.mark.costly
@settings(max_examples=COUNT, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(case=cases())
@pytest.mark.timeout(max(120, COUNT))
def test_a_run_comes_to_what_the_interpreter_says(case: Case):
    asyncio.run(_play(case))


async def _play(case: Case) -> None:
    b = Lucky(case)
    await b.open()
    try:
        init = {name: name.upper() for name in case.init}
        preview = await b.engine.plan(goals(*case.goals), init)
        try:
            run = await b.start(tuple(case.goals), init)
        except PlaitError:
            assert not preview.startable
            return
        assert preview.startable
        await _to_the_end(b, run, case)
        await _check(b, run, case, preview.body)
    finally:
        await b.close()


async def _to_the_end(b: Lucky, run: BenchRun, case: Case) -> None:
    alarms = 0
    while await run.status() == "running" or (
        (await run.state()).outlived and (await run.state()).deactivated_at is None
    ):
        for _ in range(case.crashes.count(alarms)):
            await b.crash()
        due = b.clock.next_due()
        hangs = due is None or due - b.clock.elapsed > _LONGEST
        assert not hangs, f"it hangs: {await run.reasons()}\n{await run.tale()}"
        b.clock.ring()
        await b.settle()
        alarms += 1


async def _check(b: Lucky, run: BenchRun, case: Case, preview: Any) -> None:
    handle = await run.handle()
    events = await handle.events()
    plan = events[0].data["data"]["plan"]
    assert plan == preview
    planned = {step_id: case.steps[step_id] for step_id in plan["steps"]}
    ran = {step_id for step_id, _ in b.calls}  # pyright: ignore
    assert ran <= planned.keys()

    expected = Interpreter(planned, case.lucks, case.init)
    tale = await run.tale()
    assert await run.status() == ("failed" if expected.failed(case.goals) else "completed"), tale
    if await run.status() == "completed":
        output = await handle.result()
        assert expected.given_by(case.goals) <= output.keys(), tale
        assert all(value == name.upper() for name, value in output.items())
        assert set((await run.statuses()).values()) <= {"completed", "failed", "skipped"}
    for step_id, status in (await run.statuses()).items():
        if status == "completed":
            assert expected.outcome(step_id) == "completed", f"{step_id}\n{tale}"
            assert step_id in ran
    _check_log(History(events))
    await _check_fold(b, run)


def _check_log(history: History) -> None:
    history.assert_recorded_once()
    history.assert_not_early()


async def _check_fold(b: Lucky, run: BenchRun) -> None:
    """What is in memory is what the log says."""
    row = await (await run.handle()).row()
    folded = await b.engine.kernel.loader.load(row, Epoch(0))
    live = await b.engine.kernel.peek(row)
    assert values.decode(folded.machine.snapshot()) == values.decode(live.machine.snapshot())
    assert msgspec.json.decode(bytes(folded.machine.snapshot()))
