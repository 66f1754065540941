from typing import Any

import pytest

from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.testing import History, history, sim

from .flows import order, regretted


def recorded(*events: tuple[str, dict[str, Any]]) -> History:
    return History([Recorded(seq, Millis(seq * 1000), type, data) for seq, (type, data) in enumerate(events, start=1)])


STARTED: tuple[str, dict[str, Any]] = ("run.started", {})
OPENED: tuple[str, dict[str, Any]] = ("op.opened", {"at": "a", "kind": "step"})
CLOSED: tuple[str, dict[str, Any]] = ("op.closed", {"at": "a"})
COMPLETED: tuple[str, dict[str, Any]] = ("run.completed", {})


async def test_the_history_of_a_run_can_be_asked_for_its_parts():
    async with sim([order]) as s:
        run = await s.start(order, 2)
        await s.result(run)
        found = await history(run)
    assert found.types()[0] == "run.started"
    assert found.types()[-1] == "run.completed"
    assert found.ended
    assert [event.type for event in found.at("hold")] == ["op.opened", "op.closed"]
    assert len(found.of("task.retry_scheduled")) == 2
    found.assert_recorded_once()
    found.assert_fits_its_code()
    found.assert_not_early()


async def test_a_handle_has_a_history_too():
    async with sim([regretted]) as s:
        run = await s.start(regretted)
        await s.settle()
        found = await history(await s.engine.get(run.id))
    assert [data["at"] for data in found.of("rollback.step")] == ["~undo/hold more", "~undo/hold"]


def test_a_sound_history_passes():
    recorded(STARTED, OPENED, CLOSED, COMPLETED).assert_recorded_once()


@pytest.mark.parametrize(
    ("events", "trouble"),
    [
        ((STARTED, OPENED, CLOSED, CLOSED), "`a` was closed twice"),
        ((STARTED, OPENED, OPENED), "`a` was opened twice"),
        ((STARTED, CLOSED), "`a` was closed but never opened"),
        ((STARTED, COMPLETED, COMPLETED), "the run ended twice"),
        ((STARTED, COMPLETED, OPENED), "op.opened after the end"),
        ((STARTED, ("message.queued", {"id": "m"}), ("message.queued", {"id": "m"})), "message m was queued twice"),
        ((STARTED, OPENED, ("op.closed", {"at": "a", "messages": ["m"]})), "took message m, which never came"),
        (
            (STARTED, ("branch.closed", {"at": "j", "branch": "x"}), ("branch.closed", {"at": "j", "branch": "x"})),
            "branch `x` of `j` ended twice",
        ),
    ],
)
def test_a_fact_that_comes_twice_is_named(events: tuple[tuple[str, dict[str, Any]], ...], trouble: str):
    with pytest.raises(AssertionError, match=trouble):
        recorded(*events).assert_recorded_once()


def test_a_gap_in_the_log_is_named():
    found = recorded(STARTED, OPENED, CLOSED)
    with pytest.raises(AssertionError, match="event 2 is missing"):
        History([found.events[0], found.events[2]]).assert_recorded_once()


def test_an_operation_that_a_retry_opened_again_may_close_again():
    failed = ("run.failed", {})
    again = [("run.reopened", {"cause": "retry"}), ("run.recovered", {"reset": ["a"]}), CLOSED, COMPLETED]
    recorded(STARTED, OPENED, CLOSED, failed, *again).assert_recorded_once()


def test_a_late_result_may_follow_the_end():
    found = recorded(STARTED, OPENED, ("run.cancelled", {}), ("task.late", {"token": "a"}))
    found.assert_recorded_once()
    assert found.ended


def test_a_sleep_that_ended_early_is_named():
    early = recorded(STARTED, ("op.opened", {"at": "a", "kind": "sleep", "deadline": 9_000}), CLOSED)
    with pytest.raises(AssertionError, match="`a` ended before its time"):
        early.assert_not_early()


def test_a_run_that_was_blocked_is_named():
    with pytest.raises(AssertionError, match="put it back"):
        recorded(STARTED, ("run.blocked", {"fix": "put it back"})).assert_fits_its_code()
