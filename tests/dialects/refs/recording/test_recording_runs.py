"""Recording mode on decisions: what becomes of calls, presets and stops."""

from __future__ import annotations

from typing import Any

import pytest

from plait.kernel.ids import TaskToken

from .recorder import Recorder


def test_the_recording_flow_of_the_seed() -> None:
    """GET_USER with a reference is a step with that reference; the server gets the value, the caller the result."""
    recorder = Recorder({"user_id": 7})
    key = recorder.call("GET_USER", {"id": "@input.user_id"})
    asked = recorder.tasks[TaskToken("get_user_1")].task.input
    assert bytes(asked.arguments) == b'{"id":7}'
    assert asked.whole
    recorder.answer("get_user_1", {"id": 42, "name": "Ann"})
    assert recorder.answers[key] == {
        "run": "run",
        "step": "get_user_1",
        "result": {
            "content": [{"type": "text", "text": '{"id":42,"name":"Ann"}'}],
            "structuredContent": {"id": 42, "name": "Ann"},
        },
        "output": {"id": 42, "name": "Ann"},
    }
    recorder.call("GET_ORDERS", {"userId": "@get_user_1.id"})
    assert recorder.inputs["get_orders_1"] == {"userId": 42}
    assert recorder.of("call.recorded")[-1]["input"] == {"userId": "@get_user_1.id"}
    assert recorder.status == "running"


def test_calls_are_numbered_by_arrival_and_run_together() -> None:
    recorder = Recorder()
    first, second = recorder.call("GET"), recorder.call("GET")
    assert [*recorder.tasks] == ["get_1", "get_2"]
    recorder.answer("get_2", 2)
    recorder.answer("get_1", 1)
    assert (recorder.answers[first]["output"], recorder.answers[second]["output"]) == (1, 2)


def test_a_recording_never_completes_by_itself() -> None:
    recorder = Recorder()
    recorder.done("GET", output=1)
    assert (recorder.status, recorder.tasks) == ("running", {})
    assert "next tool call, 1 steps so far" in recorder.machine.waiting({})[0].text


def test_a_bad_reference_is_no_step_and_the_number_is_not_used() -> None:
    recorder = Recorder({"user": "u1"})
    key = recorder.call("GET", {"id": "@get_usr_1.id"})
    assert recorder.code(key) == "bad_ref"
    assert "Valid: @input (.user)" in recorder.refused[key].what
    assert recorder.of("call.rejected")[0]["code"] == "bad_ref"
    assert not recorder.tasks
    recorder.call("GET")
    assert [*recorder.tasks] == ["get_1"]


def test_a_failed_call_is_a_failed_step_and_its_result_is_passed_on() -> None:
    recorder = Recorder()
    key = recorder.call("CHARGE")
    said = {"content": [{"type": "text", "text": "card declined"}], "isError": True}
    recorder.finish("charge_1", {"result": said, "output": None})
    assert recorder.answers[key]["result"] == said
    assert recorder.work("charge_1").status == "failed"
    assert recorder.of("step.failed")[0]["error"]["message"] == 'Tool "CHARGE" returned an error: card declined'
    assert recorder.code(recorder.call("NOTE", {"id": "@charge_1.id"})) == "bad_ref"


def test_a_call_that_could_not_be_made_is_answered_with_its_error() -> None:
    recorder = Recorder()
    key = recorder.call("CHARGE")
    recorder.fail("charge_1", "the server is gone", code="tool_unavailable")
    assert recorder.answers[key]["error"] == {"code": "tool_unavailable", "message": "the server is gone"}
    assert recorder.status == "running"


def test_a_reference_to_a_running_call_waits_for_it() -> None:
    recorder = Recorder()
    recorder.call("GET")
    key = recorder.call("USE", {"id": "@get_1.id"})
    assert [*recorder.tasks] == ["get_1"]
    recorder.answer("get_1", {"id": 5})
    assert recorder.inputs["use_1"] == {"id": 5}
    recorder.answer("use_1", "ok")
    assert recorder.answers[key]["output"] == "ok"


def test_what_waited_for_a_failure_fails_without_a_call() -> None:
    recorder = Recorder()
    recorder.call("GET")
    second = recorder.call("USE", {"id": "@get_1.id"})
    third = recorder.call("MORE", {"id": "@use_1.id"})
    recorder.fail("get_1")
    assert recorder.answers[second]["error"]["code"] == "dependency_failed"
    assert recorder.answers[third]["error"]["code"] == "dependency_failed"
    assert recorder.order("step.started") == ["get_1"]


def test_a_path_that_the_awaited_result_lacks_fails_the_step() -> None:
    recorder = Recorder()
    recorder.call("GET")
    key = recorder.call("USE", {"id": "@get_1.id"})
    recorder.answer("get_1", {"name": "Ann"})
    assert recorder.answers[key]["error"]["code"] == "bad_ref"
    assert not recorder.tasks


def test_more_calls_than_may_run_at_once_wait_in_order() -> None:
    recorder = Recorder()
    keys = [recorder.call("GET") for _ in range(70)]
    assert len(recorder.tasks) == 64
    recorder.answer("get_1", 1)
    assert [*recorder.tasks][-1] == "get_65"
    while recorder.tasks:
        recorder.answer(next(iter(recorder.tasks)), 1)
    assert all(key in recorder.answers for key in keys)


def test_a_cancelled_call_has_failed_and_its_task_is_stopped() -> None:
    recorder = Recorder()
    key = recorder.call("SLEEP")
    recorder.send("cancel_call", {"call": key})
    assert recorder.answers[key]["error"]["code"] == "cancelled"
    assert not recorder.tasks


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("call", {"arguments": {}}, "bad_message"),
        ("call", {"tool": "GET", "argument": {}}, "bad_message"),
        ("call", {"tool": "GET", "arguments": [1]}, "input_not_object"),
        ("preset", {"output": 1}, "bad_message"),
        ("preset", {"stepName": "my step", "output": 1}, "bad_preset"),
        ("preset", {"stepName": "item", "output": 1}, "bad_preset"),
        ("preset", {"stepName": "input", "output": 1}, "bad_preset"),
        ("preset", {"stepName": "a", "output": 1, "input": {"x": "@nope.y"}}, "bad_ref"),
        ("stop", {"output": "@nope.y"}, "bad_ref"),
        ("dance", {}, "unknown_message"),
    ],
)
def test_what_can_not_be_taken_is_refused_with_its_place(name: str, body: Any, code: str) -> None:
    recorder = Recorder()
    key = recorder.send(name, body)
    assert recorder.code(key) == code
    assert recorder.status == "running"
    assert not recorder.recording.steps


# -- presets -----------------------------------------------------------------------------------------------------------


def test_a_preset_adds_a_step_without_a_call() -> None:
    recorder = Recorder()
    key = recorder.send("preset", {"stepName": "get_user_7", "output": {"id": 1}, "toolName": "GET_USER"})
    assert recorder.answers[key] == {"stepName": "get_user_7"}
    assert not recorder.tasks
    recorder.call("GET_USER", {"like": "@get_user_7.id"})
    assert recorder.inputs == {"get_user_8": {"like": 1}}


def test_a_preset_repairs_a_failed_step() -> None:
    recorder = Recorder()
    recorder.call("GET")
    recorder.fail("get_1")
    recorder.send("preset", {"stepName": "get_1", "output": {"id": 1}})
    assert recorder.work("get_1").status == "completed"
    recorder.call("USE", {"id": "@get_1.id"})
    assert recorder.inputs["use_1"] == {"id": 1}


def test_a_result_is_replaced_only_on_request_and_its_readers_are_stale() -> None:
    recorder = Recorder()
    recorder.done("GET", output={"id": 1})
    recorder.done("USE", {"id": "@get_1.id"}, "used")
    key = recorder.send("preset", {"stepName": "get_1", "output": {"id": 2}})
    assert recorder.code(key) == "step_completed"
    recorder.send("preset", {"stepName": "get_1", "output": {"id": 2}, "replace": True})
    assert [step.stale for step in recorder.recording.steps] == [False, True]
    recorder.call("USE", {"id": "@get_1.id"})
    assert recorder.inputs["use_2"] == {"id": 2}


def test_a_call_under_way_is_not_preset() -> None:
    recorder = Recorder()
    recorder.call("GET")
    assert recorder.code(recorder.send("preset", {"stepName": "get_1", "output": 1})) == "step_running"


def test_replacing_a_result_starts_nothing_early() -> None:
    recorder = Recorder()
    recorder.done("A", output={"id": 1})
    recorder.call("B")
    recorder.call("USE", {"a": "@a_1.id", "b": "@b_1.id"})
    recorder.send("preset", {"stepName": "a_1", "output": {"id": 2}, "replace": True})
    assert [*recorder.tasks] == ["b_1"]
    recorder.answer("b_1", {"id": 3})
    assert recorder.inputs["use_1"] == {"a": 2, "b": 3}


def test_input_comes_in_pieces() -> None:
    recorder = Recorder({"a": 1})
    recorder.send("preset", {"stepName": "input", "output": {"b": 2}})
    recorder.call("GET", {"x": "@input.a", "y": "@input.b"})
    assert recorder.inputs["get_1"] == {"x": 1, "y": 2}
    assert recorder.recording.input == {"a": 1, "b": 2}


# -- ending ------------------------------------------------------------------------------------------------------------


def test_stopping_completes_it_with_the_last_success() -> None:
    recorder = Recorder()
    recorder.done("A", output="first")
    recorder.call("B")
    recorder.fail("b_1")
    key = recorder.send("stop", {})
    assert (recorder.status, recorder.output) == ("completed", "first")
    assert recorder.answers[key] == {"output": "first"}
    assert recorder.code(recorder.call("C")) == "recording_closed"


def test_a_recording_without_a_success_has_no_output() -> None:
    recorder = Recorder()
    recorder.send("stop", None)
    assert recorder.output is None


def test_an_output_may_refer_to_results() -> None:
    recorder = Recorder()
    recorder.done("A", output={"id": 5})
    recorder.send("stop", {"output": {"order": "@a_1.id"}})
    assert recorder.output == {"order": 5}
    assert recorder.recording.output == {"order": "@a_1.id"}


def test_a_stop_in_the_middle_leaves_nobody_waiting_and_takes_late_results() -> None:
    recorder = Recorder()
    recorder.call("A")
    waiting = recorder.call("B", {"x": "@a_1.id"})
    recorder.send("stop", {})
    assert recorder.answers[waiting]["error"]["code"] == "recording_closed"
    recorder.answer("a_1", {"id": 1})
    assert recorder.work("a_1").late
    assert recorder.status == "completed"
    assert recorder.order("step.started") == ["a_1"]


def test_resuming_opens_it_again_and_numbering_goes_on() -> None:
    recorder = Recorder()
    recorder.done("A", output=1)
    recorder.send("stop", {"output": "@a_1"})
    recorder.retry()
    assert recorder.status == "running"
    assert recorder.done("A", {"x": "@a_1"}, 2) == "a_2"
    recorder.send("stop", {})
    assert recorder.output == 2


def test_an_open_recording_has_nothing_to_resume_and_is_not_patched() -> None:
    recorder = Recorder()
    recorder.retry()
    recorder.patch({"op": "remove_step", "name": "a_1"})
    assert [code for code, _ in recorder.refusals] == ["nothing_to_resume", "no_patch"]


# -- restarts ----------------------------------------------------------------------------------------------------------


def test_a_call_cut_off_by_a_restart_fails_and_is_not_repeated() -> None:
    recorder = Recorder()
    first = recorder.call("CHARGE")
    waiting = recorder.call("NOTE", {"x": "@charge_1.id"})
    recorder.crash()
    assert not recorder.tasks
    assert recorder.answers[first]["error"]["code"] == "interrupted"
    assert recorder.answers[waiting]["error"]["code"] == "interrupted"
    assert recorder.done("CHARGE", output=1) == "charge_2"
    assert len(recorder.keys) == len(set(recorder.keys)) == 2


def test_a_recording_read_from_disk_for_its_next_call_goes_on() -> None:
    recorder = Recorder()
    recorder.done("GET", output={"id": 1})
    recorder.forget()
    recorder.call("USE", {"id": "@get_1.id"})
    assert recorder.inputs["use_1"] == {"id": 1}


@pytest.mark.parametrize("place", range(8))
def test_a_crash_after_any_decision_calls_nothing_twice_and_keeps_all_that_was_recorded(place: int) -> None:
    recorder = Recorder({"id": 7})
    moves = [
        lambda: recorder.call("GET", {"id": "@input.id"}, "k1"),
        lambda: recorder.call("LIST", {}, "k2"),
        lambda: recorder.answer("get_1", {"id": 1}) if "get_1" in recorder.tasks else None,
        lambda: recorder.send("preset", {"stepName": "extra", "output": 5}, "k3"),
        lambda: recorder.call("USE", {"x": "@extra"}, "k4"),
        lambda: recorder.answer("use_1", 2) if "use_1" in recorder.tasks else None,
        lambda: recorder.send("stop", {}, "k5"),
    ]
    for index, move in enumerate(moves):
        if index == place:
            recorder.crash()
        move()
    if place == len(moves):
        recorder.crash()
    assert recorder.status == "completed"
    assert recorder.order("call.recorded") == ["get_1", "list_1", "extra", "use_1"]
    assert len(recorder.keys) == len(set(recorder.keys))
    assert sorted(recorder.order("step.started")) == ["get_1", "list_1", "use_1"]
    assert {"k1", "k3", "k4", "k5"} <= recorder.answers.keys()
