"""The log of a run towards goals has every fact once, and nothing before its time."""

from typing import Any

import pytest

from plait.kernel.events import Recorded
from plait.kernel.ids import Millis
from plait.testing import History


def log(*events: tuple[str, dict[str, Any]]) -> History:
    return History([Recorded(seq, Millis(seq * 1000), type, data) for seq, (type, data) in enumerate(events, start=1)])


STARTED = ("step_started", {"step_id": "a"})
COMPLETED = ("step_completed", {"step_id": "a"})
GIVEN = ("attribute_set", {"name": "x", "provider": "a"})
BEGUN = ("work_started", {"step_id": "a", "token": "t"})
DONE = ("work_succeeded", {"step_id": "a", "token": "t"})
FAILED = ("work_failed", {"step_id": "a", "token": "t"})
END: tuple[str, dict[str, Any]] = ("run.completed", {})


def test_a_plain_run_is_fine():
    found = log(STARTED, BEGUN, DONE, GIVEN, COMPLETED, END)
    found.assert_recorded_once()
    found.assert_not_early()
    assert found.ended


@pytest.mark.parametrize(
    ("events", "trouble"),
    [
        ((STARTED, STARTED), "started twice"),
        ((STARTED, COMPLETED, COMPLETED), "ended twice"),
        ((STARTED, BEGUN, DONE, FAILED), "ended twice"),
        ((STARTED, BEGUN, DONE, BEGUN), "begun after it had ended"),
        ((GIVEN, GIVEN), "given twice"),
        ((END, STARTED), "after the end"),
    ],
)
def test_a_fact_that_comes_twice_is_noticed(events: Any, trouble: str):
    with pytest.raises(AssertionError, match=trouble):
        log(*events).assert_recorded_once()


def test_what_a_resumed_run_takes_up_may_happen_again():
    resumed = ("flow_resumed", {"steps": ["a"]})
    log(STARTED, BEGUN, DONE, GIVEN, COMPLETED, resumed, STARTED, BEGUN, DONE, GIVEN, COMPLETED).assert_recorded_once()


def test_work_that_outlives_its_run_may_end_after_it():
    found = log(STARTED, BEGUN, END, DONE, GIVEN, COMPLETED, ("flow_deactivated", {"status": "failed"}))
    found.assert_recorded_once()
    assert found.ended


def test_a_retry_before_its_time_is_noticed():
    retry = ("task.retry_scheduled", {"token": "t", "due": 5000})
    with pytest.raises(AssertionError, match="tried again before its time"):
        log(STARTED, BEGUN, retry, BEGUN).assert_not_early()
    log(STARTED, BEGUN, ("task.retry_scheduled", {"token": "t", "due": 4000}), BEGUN).assert_not_early()


def test_an_input_that_is_closed_before_its_time_is_noticed():
    waited = ("input_waited", {"step_id": "a", "name": "x", "until": 9000})
    closed = ("input_closed", {"step_id": "a", "name": "x"})
    with pytest.raises(AssertionError, match="stopped waiting for `x` before its time"):
        log(waited, closed).assert_not_early()
