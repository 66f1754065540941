"""Every dialect, every scenario: replay, duplicates, what people see, and crashes."""

from typing import get_args

import pytest

from plait.kernel import values
from plait.kernel.events import Recorded
from plait.kernel.ids import Epoch, Ids
from plait.kernel.limits import Limits
from plait.kernel.loader import Loader
from plait.kernel.run import Run
from plait.kernel.state import KernelState
from plait.stores.memory import Moment
from tests.contract.dialects.kit import Ending, Scenario, Stage
from tests.contract.dialects.subjects import ALL, NAMES, AnySubject

every_scenario = pytest.mark.parametrize(("subject", "scenario"), ALL, ids=NAMES)

LATE = ("task.late", "late_result")
AGAIN = ("work_started", "work_accepted")
"""Said of every attempt, in the same words."""


def types(ending: Ending) -> list[str]:
    return [event.type for event in ending.events]


@every_scenario
@pytest.mark.parametrize("cache_size", [0, 1000], ids=["uncached", "cached"])
async def test_a_scenario_ends_alike_whether_its_run_stays_in_memory_or_not(
    subject: AnySubject, scenario: Scenario, cache_size: int
):
    expected = await Stage(subject()).play(scenario)
    ending = await Stage(subject(), cache_size=cache_size).play(scenario)
    assert ending.seen == expected.seen
    assert types(ending) == types(expected)


@every_scenario
async def test_the_log_up_to_any_event_gives_the_state_the_live_run_had_there(subject: AnySubject, scenario: Scenario):
    stage = Stage(subject())
    await stage.play(scenario)
    dialect = subject().dialect()
    loader = Loader(stage.store, {dialect.name: dialect}, Ids(seed=1), Limits())
    for run_id, pictures in stage.store.pictures.items():
        row = await stage.store.run(run_id)
        assert row is not None
        for seq in range(1, max(pictures) + 1):
            folded = await loader.load(row, Epoch(0), seq)
            assert folded.state.seq == seq
            picture = pictures.get(seq)
            if picture is not None:
                assert values.decode(folded.machine.snapshot()) == values.decode(picture.machine)
                _same_kernel_state(folded, picture.kernel)


def _same_kernel_state(folded: Run, live: KernelState) -> None:
    """Of tasks that are settled the fold may still know the attempts; all else must be the same, but for when an
    attempt that has begun was due."""
    found = folded.state.dump()
    assert {(entry.token, entry.attempt) for entry in live.attempts} <= {
        (entry.token, entry.attempt) for entry in found.attempts
    }
    found.attempts, live.attempts = [], []
    assert found == live


@every_scenario
async def test_a_snapshot_gives_back_the_machine_it_was_taken_of(subject: AnySubject, scenario: Scenario):
    stage = Stage(subject())
    dialect = subject().dialect()

    def check(run: Run) -> None:
        again = dialect.restore(run.info, run.machine.snapshot())
        assert again.snapshot() == run.machine.snapshot()
        assert again.backlog() == run.machine.backlog()
        assert again.weight() == run.machine.weight()
        assert again.nodes({}) == run.machine.nodes({})

    stage.store.look = check
    await stage.play(scenario)
    assert stage.store.pictures


@every_scenario
async def test_inputs_that_come_twice_change_nothing(subject: AnySubject, scenario: Scenario):
    expected = await Stage(subject()).play(scenario)
    ending = await Stage(subject(), twice=True).play(scenario)
    assert ending.seen == expected.seen
    assert [type for type in types(ending) if type not in LATE] == types(expected)


@every_scenario
async def test_a_live_run_always_has_a_picture_and_a_reason_why_it_waits(subject: AnySubject, scenario: Scenario):
    stage = Stage(subject())

    def check(run: Run) -> None:
        if run.state.status != "running" or run.state.rolling_back or run.mailbox:
            return
        facts = run.state.tasks.facts()
        waiting = run.machine.waiting(facts)
        if not run.state.tasks.running and not waiting and not _has_more(run):
            raise AssertionError(f"after event {run.state.seq} nobody can say why the run waits")
        if waiting:
            assert all(reason.text and reason.kind for reason in waiting)
            assert run.machine.nodes(facts)[0]

    stage.store.look = check
    await stage.play(scenario)


def _has_more(run: Run) -> bool:
    """A machine that said `more` is asked again at once; it need not say what it waits for."""
    return run._awake  # pyright: ignore[reportPrivateUsage]


@every_scenario
@pytest.mark.parametrize("cache_size", [0, 1000], ids=["uncached", "cached"])
async def test_a_crash_at_any_commit_changes_nothing_that_a_caller_sees(
    subject: AnySubject, scenario: Scenario, cache_size: int
):
    expected = await Stage(subject(), cache_size=cache_size).play(scenario)
    for number in range(1, expected.commits + 1):
        for moment in get_args(Moment):
            stage = Stage(subject(), cache_size=cache_size, crash=(number, moment))
            ending = await stage.play(scenario)
            assert stage.store.crashed
            assert ending.seen == expected.seen, f"a crash {moment} commit {number}"
            facts = _facts(ending.events)
            assert len(set(facts)) == len(facts), "something was recorded twice"


def _facts(events: list[Recorded]) -> list[str]:
    """Events without their place: the same one twice is a fact that was recorded twice, unless the run was reopened
    in between and did something again."""
    facts: list[str] = []
    reopened = 0
    for event in events:
        reopened += event.type == "run.reopened"
        if event.type not in AGAIN:
            facts.append(f"{reopened} {event.type} {event.data}")
    return facts
