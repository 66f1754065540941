"""Patches, forks, failures and retries of a run: section 5 of the spec."""

from __future__ import annotations

from typing import Any

import pytest

from plait.dialects.refs.running.events import RefsForked
from plait.kernel.errors import PlaitError
from tests.dialects.refs.player import Player, code, ret, tool

# -- patches -----------------------------------------------------------------------------------------------------------


def test_a_step_is_added_while_the_run_runs() -> None:
    player = Player([tool("a")]).start()
    player.patch({"op": "add_step", "step": tool("b", {"x": "@a"})})
    player.crash()
    player.finish("a", 1)
    assert player.inputs["b"] == {"x": 1}


def test_a_step_that_has_not_started_is_replaced_or_removed() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"}), tool("c", {"x": "@a"})]).start()
    player.patch(
        {"op": "replace_step", "name": "b", "step": tool("b", {"y": "@a"})},
        {"op": "remove_step", "name": "c"},
    )
    player.finish("a", 1)
    assert player.inputs == {"a": {}, "b": {"y": 1}}


def test_a_step_that_failed_is_replaced_and_what_read_it_is_stale() -> None:
    steps = [tool("a", config={"onError": "continue"}), tool("b", {"x": "@a"}), tool("slow")]
    player = Player(steps).start()
    player.fail("a")
    player.finish("b", 1)
    player.patch({"op": "replace_step", "name": "a", "step": tool("a", {"again": True})})
    assert "a" in player.tasks
    assert player.work("b").stale


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ({"op": "remove_step", "name": "a"}, "step_in_use"),
        ({"op": "remove_step", "name": "done"}, "step_in_use"),
        ({"op": "remove_step", "name": "nobody"}, "bad_patch"),
        ({"op": "drop_step", "name": "b"}, "bad_patch"),
        ({"op": "add_step", "step": tool("b")}, "invalid_definition"),
        ({"op": "add_step", "step": tool("z", {"x": "@nobody"})}, "invalid_definition"),
        ({"op": "remove_step", "name": "b"}, "invalid_definition"),
        ({"op": "add_step"}, "bad_patch"),
        ({"op": "set_preset", "name": "b", "output": 1, "why": 2}, "bad_patch"),
    ],
)
def test_a_patch_that_can_not_be_is_refused_whole(operation: dict[str, Any], code: str) -> None:
    player = Player([tool("done"), tool("a"), tool("b", {"x": "@a"}), tool("c", {"x": "@b"})]).start()
    player.finish("done")
    events = len(player.events)
    player.patch({"op": "set_preset", "name": "c", "output": 1}, operation)
    assert [each[0] for each in player.refusals] == [code]
    assert len(player.events) == events


# -- forks -------------------------------------------------------------------------------------------------------------


def test_a_fork_begins_before_the_step_that_it_names() -> None:
    player = Player([tool("a"), tool("b", {"x": "@a"})]).start()
    player.finish("a", 1)
    player.finish("b", 2)
    plan = player.bundle.fork(player.machine, "b", {})
    assert isinstance(plan.event, RefsForked)
    started = next(at for at, each in enumerate(player.events, 1) if each.get("step") == "b")
    assert plan.upto == started - 1


@pytest.mark.parametrize(
    ("at", "edits"), [(99, {}), ("nobody", {}), ("c", {}), (None, {"outputs": {}}), (None, {"operations": [{}]})]
)
def test_a_fork_that_can_not_be_is_refused(at: Any, edits: dict[str, Any]) -> None:
    player = Player([tool("a"), tool("c", {"x": "@a"})]).start()
    with pytest.raises(PlaitError):
        player.bundle.fork(player.machine, at, edits)


# -- failures and retries ----------------------------------------------------------------------------------------------


def test_a_failed_step_fails_the_run_and_nothing_new_starts() -> None:
    player = Player([tool("a"), tool("b"), tool("c", {"x": "@b"})]).start()
    player.fail("a", "no such user")
    assert player.error.message == 'Step "a" failed: no such user'
    assert player.error.code == "tool_error"
    player.finish("b", 1)
    assert "c" not in player.inputs


def test_an_attempt_that_fails_is_tried_again_with_the_same_arguments_and_key() -> None:
    player = Player([tool("a", config={"maxAttempts": 3, "backoffMs": 200})]).start()
    player.fail("a", retryable=True)
    assert player.status == "running"
    waits = next(iter(player.timers.values())) - player.now
    assert 180 <= waits <= 200
    player.crash()
    player.ring()
    player.fail("a", retryable=True)
    player.ring()
    player.fail("a", retryable=True)
    assert player.status == "failed"
    assert set(player.keys) == {"run/a/0"}
    assert player.letters["run:a"].attempts == 3


def test_an_error_that_is_final_is_not_tried_again() -> None:
    player = Player([tool("a", config={"maxAttempts": 3})]).start()
    player.fail("a", code="tool_not_found")
    assert player.error.code == "tool_not_found"


def test_a_failure_that_is_continued_gives_null_and_a_partial_success() -> None:
    player = Player([tool("a", config={"onError": "continue"}), code("b", {"x": "@a.y"})]).start()
    player.fail("a")
    assert player.inputs["b"] == {"x": None}
    player.finish("b", 1)
    assert player.output == 1
    details = player.machine.details()
    assert details is not None
    assert details["partial"]


def test_a_tool_that_may_not_be_repeated_fails_when_its_process_dies() -> None:
    player = Player([tool("a", config={"onInterrupt": "fail"})]).start()
    player.run.recoveries = 1
    player.crash()
    assert player.error.code == "interrupted"
    assert player.keys == ["run/a/0"]


def test_an_input_that_is_no_object_fails_the_step() -> None:
    player = Player([tool("a", "@input.list")]).start({"list": [1]})
    assert player.error.code == "input_not_object"
    assert Player([tool("a", "@input.none")]).start({"none": None}).inputs == {"a": {}}


def test_an_output_that_misfits_its_schema_fails_the_step_without_a_retry() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    player = Player([tool("a", outputSchema=schema, config={"maxAttempts": 3})]).start()
    player.finish("a", {"name": "x"})
    assert player.error.code == "output_mismatch"
    assert "id is required" in player.error.message


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"properties": {"id": {}}}, {"id": 1}),
        ({"properties": {"id": {}}, "additionalProperties": True}, {"id": 1, "x": 2}),
        ({"type": "object"}, {"id": 1, "x": 2}),
    ],
)
def test_a_tools_output_is_cut_to_what_is_declared(schema: dict[str, Any], kept: Any) -> None:
    player = Player([tool("a", outputSchema=schema)]).start()
    player.finish("a", {"id": 1, "x": 2})
    assert player.output == kept


def test_inputs_given_twice_change_nothing() -> None:
    steps = [tool("a"), tool("f", {"x": "@item"}, forEach={"ref": "@a", "concurrency": 2}), code("c", {"x": "@f"})]
    once, twice = Player(steps), Player(steps)
    twice.twice = True
    for player in (once, twice):
        player.start()
        player.finish("a", [1, 2, 3])
        player.finish_all(lambda id, input: input["x"])
    assert once.output == twice.output == [1, 2, 3]
    assert [each for each in twice.events if each["type"] != "task.late"] == once.events


EACH = {"ref": "@input", "concurrency": 2}


@pytest.mark.parametrize(
    "steps",
    [
        [tool("a"), tool("f", {"x": "@item"}, forEach=EACH), tool("b", {"x": "@f"})],
        [tool("a"), tool("f", {"x": "@item"}, forEach=EACH, bail=True), tool("b", {"x": "@f"})],
        [tool("a", bail={"ref": "@a.id", "eq": "a"}), tool("b", {"x": "@a"})],
        [tool("a"), ret("r", {"x": "@a.id"}), tool("b", {"x": "@a"})],
        [tool("a"), tool("bad", {"x": "@a"}), tool("b", {"x": "@bad"})],
    ],
    ids=["iterations", "iterations that bail", "a bail", "a return", "a failure"],
)
def test_a_fork_at_any_event_ends_as_its_source(steps: list[dict[str, Any]]) -> None:
    source = played(Player(steps).start(["x", "y"]))
    end = next((place for place, event in enumerate(source.events, 1) if event["type"] == "refs.ended"), None)
    for place in range(2, end or source.machine.run.state.end_seq):
        fork = Player(steps).start(["x", "y"])
        fork.load(cut_off(source.log, place))
        fork.tasks.clear()
        fork.add(RefsForked("source", place))
        fork.crash()
        assert ended(played(fork)) == ended(source), source.events[place - 1]


def played(player: Player) -> Player:
    while player.tasks:
        id = next(iter(player.tasks))
        if id == "bad":
            player.fail(id)
        else:
            player.finish(id, {"id": id})
    return player


def ended(player: Player) -> tuple[str, Any]:
    return player.status, player.output if player.status == "completed" else player.error.message


def cut_off(log: list[dict[str, Any]], place: int) -> list[dict[str, Any]]:
    """The first events, decision by decision."""
    found: list[dict[str, Any]] = []
    for row in log:
        found.append({"at": row["at"], "events": row["events"][:place]})
        place -= len(found[-1]["events"])
    return [row for row in found if row["events"]]
