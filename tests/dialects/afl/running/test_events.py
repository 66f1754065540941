"""AFL events: pause, answers, `StepContinue`, and what is no answer."""

from typing import Any

import msgspec
import pytest

from plait import Retry
from plait.dialects.afl.handlers import Registration, child, http, queue
from plait.dialects.afl.running import states
from plait.kernel import values
from plait.kernel.inputs import TaskResult
from plait.kernel.task_inputs import HttpInput
from tests.dialects.afl.player import Player

ASK = """
namespace t {
    event facet Ask(x: Long) => (n: Long)
    event facet Two(x: Long) => (a: Long, b: Long = 7)
    workflow W(x: Long = 1) => (n: Long) andThen {
        q = Ask(x = $.x)
        r = Ask(x = q.n)
        yield W(n = r.n)
    }
    workflow V() => (n: Long) andThen { t = Two(x = 1) yield V(n = t.b) }
}
"""


def waiting() -> Player:
    return Player(ASK, "t.W").start()


def test_an_event_pauses_the_run_until_it_is_answered():
    player = waiting()
    assert player.step("q").state == states.EVENT_TRANSMIT
    assert player.open == {"q": {"x": 1}}
    assert player.of("afl.iteration")[-1]["paused"] is True
    player.finish("q", {"n": 5})
    assert player.open == {"r": {"x": 5}}
    player.finish("r", {"n": 6})
    assert player.output == {"n": 6}
    details = player.machine.details()
    assert details is not None
    assert (details["pauses"], details["paused"]) == (2, False)


def test_an_event_is_dispatched_with_the_commit_of_its_own_iteration():
    player = waiting()
    [row] = [row for row in player.log if any(event["type"] == "afl.event.created" for event in row["events"])]
    assert row["events"][-1]["published"] == 1


def test_a_step_continue_answers_and_withdraws_the_task():
    player = waiting()
    player.step_continue("q", n=5)
    assert list(player.open) == ["r"]
    assert player.step("q").returns == {"n": 5}


@pytest.mark.parametrize("when", ["at once", "a step later", "after the end"])
def test_a_second_step_continue_is_a_no_op_and_on_record(when: str):
    player = waiting()
    player.step_continue("q", n=5)
    if when != "at once":
        player.finish("r", {"n": 9})
    before = msgspec.json.encode(player.machine.run.state.steps)
    count = len(player.types)
    player.step_continue("q", n=6)
    assert player.types[count:] == ["afl.continue.ignored"]
    assert player.refusals == []
    assert player.step("q").returns == {"n": 5}
    assert msgspec.json.encode(player.machine.run.state.steps) == before


def test_the_form_of_the_seed_is_understood_too():
    player = waiting()
    body = {"event_type": "StepContinue", "payload": {"step_id": player.step("q").id, "result": {"n": 3}}}
    player.message("StepContinue", body)
    assert player.step("q").returns == {"n": 3}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("StepContinue", {"step_id": "nobody"}),
        ("StepContinue", None),
        ("StepContinue", [1]),
        ("StepContinue", {"step_id": 5}),
        ("StepContinue", {"step_id": "Q", "result": 5}),
        ("Hello", {}),
    ],
)
def test_what_is_no_answer_is_ignored_and_on_record(name: str, body: Any):
    player = waiting()
    if isinstance(body, dict) and body.get("step_id") == "Q":
        body = {**body, "step_id": player.step("q").id}
    player.message(name, body)
    assert player.types[-1] == "afl.continue.ignored"
    assert list(player.open) == ["q"]


def test_partial_returns_are_kept_and_an_answer_is_written_over_them():
    player = Player(ASK, "t.V").start()
    id = player.step("t").id
    player.message("StepUpdate", {"step_id": id, "returns": {"a": 1, "note": "half"}})
    assert player.types[-1] == "afl.step.updated"
    player.finish("t", {"a": 2})
    assert player.step("t").returns == {"a": 2, "note": "half", "b": 7}
    assert player.output == {"n": 7}


def test_a_result_that_is_no_object_is_wrapped_if_there_is_one_return():
    player = waiting()
    player.finish("q", 5)
    assert player.step("q").returns == {"n": 5}


def test_a_result_that_is_no_object_fails_the_step_if_there_are_two():
    player = Player(ASK, "t.V").start()
    player.finish("t", 5)
    assert (player.status, player.error.code) == ("failed", "AFL_EVENT_FAILED")


def test_a_result_of_a_wrong_type_is_a_warning_and_under_strict_an_error():
    player = waiting()
    player.finish("q", {"n": "five"})
    assert "result 'n' of t.Ask: expected Long, got String" in [each["text"] for each in player.of("afl.warning")]
    strict = Player(ASK, "t.W", strict=True).start()
    strict.finish("q", {"n": "five"})
    assert (strict.error.code, strict.error.type) == ("AFL_TYPE", "TypeError")


def test_a_second_result_of_the_same_task_changes_nothing():
    player = waiting()
    token = player.token("q")
    player.finish("q", {"n": 5})
    player.give(TaskResult(token, 1, values.encode({"n": 6})))
    assert player.step("q").returns == {"n": 5}
    assert player.types[-1] == "task.late"


def test_undeclared_keys_are_kept_and_a_missing_one_fails_only_where_it_is_read():
    player = waiting()
    player.finish("q", {"extra": 1})
    assert player.step("q").returns == {"extra": 1}
    assert (player.error.code, player.error.type) == ("AFL_REFERENCE", "ReferenceError")
    assert player.error.message == "Attribute 'n' not found on step 'q'"


def test_a_failed_attempt_is_tried_again_by_the_kernel_as_the_registration_says():
    player = Player(ASK, "t.W", handlers={"Ask": Registration("Ask", print, retry=Retry(max_attempts=2, first=3))})
    player.start()
    opened = player.tasks[player.token("q")]
    assert opened.task.policy.retry.max_attempts == 2
    assert opened.task.policy.retry.first == 3


def test_mixins_say_how_often_and_how_long():
    source = ASK.replace(
        "q = Ask(x = $.x)", "q = Ask(x = $.x) with Timeout(minutes = 2, seconds = 1) with Retry(max_retries = 4)"
    )
    policy = Player(source, "t.W").start().tasks.popitem()[1].task.policy
    assert (policy.timeout, policy.retry.max_attempts) == (121.0, 5)


def test_a_handler_may_be_an_address_a_child_or_a_queue():
    posted = Player(ASK, "t.W", handlers={"t.Ask": http("http://127.0.0.1/ask")}).start()
    input = posted.tasks[posted.token("q")].task.input
    assert isinstance(input, HttpInput)
    assert (input.url, values.decode(input.body)) == ("http://127.0.0.1/ask", {"x": 1})

    parent = Player(ASK, "t.W", handlers={"Ask": child("other@1")}).start()
    started = parent.children[parent.token("q", parent.children)]
    assert (started.definition, values.decode(started.input)) == ("other@1", {"x": 1})
    parent.child("q", output={"n": 4})
    assert parent.step("q").returns == {"n": 4}

    queued = Player(ASK, "t.W", handlers={"Ask": queue("gpu")}).start()
    assert queued.of("task.queued")[0]["queue"] == "gpu"


def test_an_exact_name_beats_a_short_one():
    player = Player(ASK, "t.W", handlers={"Ask": queue("short"), "t.Ask": queue("exact")}).start()
    assert player.of("task.queued")[0]["queue"] == "exact"
