"""Going on with runs that ended: section 5 of the spec."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from plait.dialects.refs.references import resolve as references
from plait.dialects.refs.references.resolve import Scope
from plait.dialects.refs.running import compensation
from plait.kernel import values
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.inputs import ChildFinished, Resume
from tests.dialects.refs.player import Player, call, code, ret, tool, workflow


def resumed(player: Player) -> dict[str, Any]:
    return player.of("refs.resumed")[-1]


def test_only_what_failed_and_was_not_finished_runs_again() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"}), tool("c", {"x": "@b"})]).start()
    player.finish("a", 1)
    player.fail("b")
    assert player.status == "failed"
    player.retry()
    assert list(player.tasks) == ["b"]
    player.crash()
    player.finish_all()
    assert player.status == "completed"
    assert player.order("step.completed") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("tool_error", "run/a/1"),
        ("tool_timeout", "run/a/0"),
        ("interrupted", "run/a/0"),
        ("tool_unavailable", "run/a/0"),
    ],
)
def test_the_key_changes_only_after_an_answer(code: str, key: str) -> None:
    player = Player([tool("a")]).start()
    player.fail("a", code=code)
    player.retry()
    assert player.keys == ["run/a/0", key]


def test_a_second_resume_has_a_third_key() -> None:
    player = Player([tool("a")]).start()
    for _ in range(2):
        player.fail("a")
        player.retry()
    assert player.keys == ["run/a/0", "run/a/1", "run/a/2"]


def test_work_in_flight_is_not_called_again_and_its_late_result_serves() -> None:
    player = Player([tool("a"), tool("b"), tool("c")]).start()
    player.fail("a")
    player.finish("b", "late")
    player.retry()
    assert sorted(player.tasks) == ["a", "c"]
    assert player.keys.count("run/c/0") == 1
    player.finish("c", 3)
    player.finish("a", 1)
    assert player.output == {"a": 1, "b": "late", "c": 3}


def test_late_raw_results_are_transformed_when_the_run_goes_on() -> None:
    slow = tool("b")
    slow["action"]["transformCode"] = "export default (x) => x"
    player = Player([tool("a"), slow]).start()
    player.fail("a")
    player.finish("b", {"raw": 1})
    assert not player.tasks
    player.retry()
    assert sorted(player.tasks) == ["a", "b~transform"]


def test_a_failed_transform_never_causes_a_second_call() -> None:
    step = tool("a")
    step["action"]["transformCode"] = "export default (x) => x.y.z"
    player = Player([step]).start()
    player.finish("a", {"raw": 1})
    player.fail("a~transform", code="code_error")
    assert player.error.message == 'Step "a" failed: no'
    player.retry()
    assert list(player.tasks) == ["a~transform"]
    player.crash()
    assert list(player.tasks) == ["a~transform"]
    player.finish("a~transform", "done")
    assert player.output == "done"
    assert player.keys.count("run/a/0") == 1


def test_what_comes_after_is_computed_anew_where_that_touches_nothing_outside() -> None:
    steps = [
        tool("a", config={"onError": "continue"}),
        tool("skipped", {"x": "@a"}, when={"ref": "@a.go"}),
        code("computed", {"x": "@a"}),
        tool("effect", {"x": "@a"}),
        code("after_effect", {"x": "@effect"}),
    ]
    player = Player(steps).start()
    player.fail("a")
    player.finish_all(lambda id, input: {"of": id, **input})
    assert player.status == "completed"
    player.retry()
    event = resumed(player)
    assert (event["rerun"], event["recomputed"], event["stale"]) == (["a"], ["skipped", "computed"], ["effect"])
    player.finish("a", {"go": True})
    assert sorted(player.tasks) == ["computed", "skipped"]
    player.finish_all(lambda id, input: input)
    assert player.output["skipped"] == {"x": {"go": True}}
    assert player.output["after_effect"] == {"of": "after_effect", "x": {"of": "effect", "x": None}}
    assert player.work("effect").stale


def test_scope_downstream_runs_effects_again_under_other_keys() -> None:
    steps = [tool("a", config={"onError": "continue"}), tool("b", {"x": "@a"}), tool("c", {"x": "@b"})]
    player = Player(steps).start()
    player.fail("a")
    player.finish_all()
    player.retry("downstream")
    player.finish_all(lambda id, input: input)
    assert player.output == {"x": {"x": {}}}
    assert player.keys[3:] == ["run/a/1", "run/b/1", "run/c/1"]


def test_iterations_that_failed_run_again_and_the_array_is_made_anew() -> None:
    steps = [tool("f", {"x": "@item"}, forEach={"ref": "@input.l", "concurrency": 3}), code("c", {"x": "@f"})]
    player = Player(steps).start({"l": [1, 2, 3]})
    player.fail("f[1]")
    player.finish_all(lambda id, input: input["x"])
    assert player.output == [1, None, 3]
    player.retry()
    assert list(player.tasks) == ["f[1]"]
    player.crash()
    player.finish_all(lambda id, input: input["x"])
    assert player.output == [1, 2, 3]
    assert player.keys.count("run/f[0]/0") == 1


def test_iterations_that_never_ran_run_after_a_failure() -> None:
    player = Player([tool("f", forEach={"ref": "@input.l"}, config={"onError": "fail"})]).start({"l": [1, 2, 3]})
    player.finish("f[0]", 0)
    player.fail("f[1]")
    player.retry()
    player.finish_all(lambda id, input: id)
    assert player.output == [0, "f[1]", "f[2]"]


def test_a_producer_that_failed_gives_its_items_after_all() -> None:
    steps = [tool("p", config={"onError": "continue"}), tool("f", {"x": "@item"}, forEach={"ref": "@p"})]
    player = Player(steps).start()
    player.fail("p")
    assert player.output == []
    player.retry()
    player.finish("p", [1, 2])
    player.finish_all(lambda id, input: input["x"])
    assert player.output == [1, 2]


@pytest.mark.parametrize("step", [ret("r", {"x": 1}), call("r", bail=True)])
def test_a_run_that_ended_early_has_nothing_to_resume(step: dict[str, Any]) -> None:
    player = Player([tool("a", config={"onError": "continue"}), {**step, "dependsOn": ["a"]}]).start()
    player.fail("a")
    player.finish_all()
    player.retry()
    assert player.refusals[-1][0] == "nothing_to_resume"
    assert player.status == "completed"


def test_a_run_without_failures_has_nothing_to_resume() -> None:
    player = Player([tool("a")]).start()
    player.retry()
    player.finish_all()
    player.retry()
    assert [code for code, _ in player.refusals] == ["nothing_to_resume"] * 2


def test_a_cancelled_run_goes_on() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"})]).start()
    player.cancel()
    assert player.status == "cancelled"
    assert list(player.tasks) == ["a"], "what is in flight is not killed"
    player.finish("a", 1)
    assert player.of("step.completed")[-1]["late"] is True
    player.retry()
    player.finish_all()
    assert player.status == "completed"


def test_a_dead_letter_is_retried_alone() -> None:
    steps = [tool(name, config={"onError": "continue"}) for name in ("a", "b")]
    player = Player(steps).start()
    player.fail("a", retryable=True)
    player.fail("b", retryable=True)
    assert sorted(player.letters) == ["run:a", "run:b"]
    player.ask(Resume("settle", token=TaskToken("b"), verdict="retry"))
    assert list(player.tasks) == ["b"]
    assert sorted(player.letters) == ["run:a"]


# -- deadlines ---------------------------------------------------------------------------------------------------------


def test_the_deadline_ends_the_run_and_cancels_children_that_are_waited_for() -> None:
    player = Player([tool("a"), workflow("kid")], deadline=5_000).start()
    player.ring()
    assert (player.error.code, player.error.message) == ("deadline_exceeded", "Run exceeded its deadline")
    assert player.cancelled == ["run:kid"]
    player.finish("a", 1)
    assert player.of("step.completed")[-1]["late"] is True


def test_the_deadline_is_looked_at_in_every_decision() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"})], deadline=5_000).start()
    player.now = type(player.now)(6_000)
    player.finish("a", 1)
    assert player.error.code == "deadline_exceeded"
    assert not player.tasks


def test_a_resume_needs_a_deadline_that_has_not_passed() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"})], deadline=5_000).start()
    player.ring()
    player.retry()
    assert player.refusals[-1][0] == "deadline_passed"
    player.retry(deadline=9_000)
    assert player.status == "running"
    player.crash()
    player.ring()
    assert player.error.code == "deadline_exceeded"


# -- compensation ------------------------------------------------------------------------------------------------------

UNDO = {"action": {"toolName": "UNDO"}, "input": {"id": "@pay.id", "why": "@input.why"}}


def test_a_failure_compensates_what_succeeded_and_a_resume_does_it_again() -> None:
    player = Player([tool("pay", compensate=UNDO), tool("ship", {"x": "@pay.id"})]).start({"why": "test"})
    player.finish("pay", {"id": 7})
    player.fail("ship")
    opened = player.tasks[TaskToken("compensate:pay/0")]
    assert bytes(opened.task.input.arguments) == b'{"id":7,"why":"test"}'
    player.finish("compensate:pay/0")
    assert player.status == "failed"
    player.retry()
    assert list(player.tasks) == ["pay"]
    player.finish("pay", {"id": 8})
    player.finish_all()
    assert player.status == "completed"
    assert "run/pay/1" in player.keys


def test_a_dead_letter_that_is_retried_does_again_what_was_undone() -> None:
    player = Player([tool("pay", compensate=UNDO), tool("ship", {"x": "@pay.id"})]).start({"why": "test"})
    player.finish("pay", {"id": 7})
    player.fail("ship")
    player.finish("compensate:pay/0")
    player.ask(Resume("settle", token=TaskToken("ship"), verdict="retry"))
    assert list(player.tasks) == ["pay"]
    player.finish_all()
    assert player.status == "completed"
    assert [key for key in player.keys if key.startswith("run/pay/")] == ["run/pay/0", "run/pay/1"]


def test_a_cancel_compensates_only_when_asked_to() -> None:
    for compensate in (False, True):
        player = Player([tool("pay", compensate=UNDO), tool("slow", {"x": "@pay.id"})]).start()
        player.finish("pay", {"id": 7})
        player.cancel(compensate=compensate)
        assert (TaskToken("compensate:pay/0") in player.tasks) is compensate


def test_each_iteration_is_compensated_with_its_own_output() -> None:
    undo = {"action": {"toolName": "UNDO"}, "input": {"id": "@f.id", "item": "@item"}}
    steps = [tool("f", {"x": "@item"}, forEach={"ref": "@input.l"}, compensate=undo), tool("b", {"x": "@f"})]
    player = Player(steps).start({"l": ["x", "y"]})
    player.finish("f[0]", {"id": 0})
    player.finish("f[1]", {"id": 1})
    player.fail("b")
    undone: list[bytes] = []
    while player.tasks:
        id = next(iter(player.tasks))
        undone.append(bytes(player.tasks[id].task.input.arguments))
        player.finish(id)
    assert undone == [b'{"id":1,"item":"y"}', b'{"id":0,"item":"x"}']


def test_iterations_that_were_undone_with_the_step_before_them_are_done_again_under_other_keys() -> None:
    undo = {"action": {"toolName": "UNDO"}}
    steps = [
        tool("a", compensate=undo),
        tool("f", {"x": "@a"}, forEach={"ref": "@input"}, compensate=undo),
        tool("b", {"x": "@f"}),
    ]
    player = Player(steps).start(["x", "y"])
    player.finish("a", {"id": 7})
    for _ in range(2):
        player.finish("f[0]", {"id": 0})
        player.finish("f[1]", {"id": 1})
        player.fail("b")
        player.crash()
        player.finish_all()
        assert player.status == "failed"
        player.retry()
        assert list(player.tasks) == ["a"]
        player.finish("a", {"id": 8})
    player.finish_all()
    assert player.status == "completed"
    assert [key for key in player.keys if key.startswith("run/f[0]/")] == ["run/f[0]/0", "run/f[0]/1", "run/f[0]/2"]
    undone = [key for key in player.keys if key.startswith("run/compensate:f[0]/")]
    assert undone == ["run/compensate:f[0]/0", "run/compensate:f[0]/1"]


def test_iterations_that_run_again_over_other_items_have_other_keys() -> None:
    steps = [tool("p", config={"onError": "continue"}), tool("q", {"x": "@p"}), tool("f", forEach={"ref": "@q"})]
    player = Player(steps).start()
    player.fail("p")
    player.finish("q", ["old"])
    player.fail("f[0]")
    player.retry(scope="downstream")
    player.finish("p", 1)
    player.finish("q", ["new"])
    player.finish_all(lambda id, input: id)
    assert player.output == ["f[0]"]
    assert [key for key in player.keys if key.startswith("run/f[0]/")] == ["run/f[0]/0", "run/f[0]/1"]


def test_a_rollback_of_many_iterations_works_each_out_at_most_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel asks for all of them again after each one that ends."""
    resolved: list[Any] = []

    def resolve(value: Any, scope: Scope) -> Any:
        resolved.append(scope.index)
        return references.resolve(value, scope)

    monkeypatch.setattr(compensation, "resolve", resolve)
    items = list(range(300))
    undo = {"action": {"toolName": "UNDO"}, "input": {"id": "@f", "item": "@item"}}
    loop = {"ref": "@input", "concurrency": 50}
    steps = [tool("f", {"x": "@item"}, forEach=loop, compensate=undo), tool("b", {"x": "@f"})]
    player = Player(steps).start(items)
    while "b" not in player.tasks:
        player.finish(next(iter(player.tasks)), "done")
    player.fail("b")
    player.finish_all()
    assert player.status == "failed"
    assert len(player.of("rollback.step")) == len(items)
    assert set(resolved) == set(items)
    assert len(resolved) <= 2 * len(items)  # when the step fails, and when its failure is recorded


def test_what_succeeds_late_in_a_rollback_is_compensated_too() -> None:
    undo = {"action": {"toolName": "UNDO"}, "input": {"id": "@slow.id"}}
    steps = [tool("pay", compensate=UNDO), tool("slow", compensate=undo), tool("b", {"x": "@pay"})]
    player = Player(steps).start()
    player.finish("pay", {"id": 7})
    player.fail("b")
    player.finish("slow", {"id": 9})
    player.finish("compensate:pay/0")
    assert bytes(player.tasks[TaskToken("compensate:slow/0")].task.input.arguments) == b'{"id":9}'


def test_a_child_that_was_compensated_runs_again_as_another_one() -> None:
    player = Player([workflow("kid"), tool("ship", {"x": "@kid.id"})]).start()
    first = player.children.pop(TaskToken("kid"))
    done = ChildFinished(first.token, first.run_id, "completed", values.encode({"id": 1}), compensable=True)
    player.give(done, "done")
    player.fail("ship")
    player.give(msgspec.structs.replace(done, compensable=False), "undone")
    assert player.status == "failed"
    player.crash()
    player.retry()
    assert player.children[TaskToken("kid")].run_id == "run:kid:2"
    player.child("kid", output={"id": 2})
    assert player.inputs["ship"] == {"x": 2}


def test_a_run_whose_start_time_passed_after_it_was_cancelled_begins_when_it_is_retried() -> None:
    player = Player({"steps": [tool("a")], "start_at_epoch_ms": 5_000}).start()
    player.cancel()
    player.now = Millis(6_000)
    player.retry()
    assert list(player.tasks) == ["a"]
