"""Steps that start runs, and how deep that may go: section 4.5 of the spec."""

from __future__ import annotations

from typing import Any

import pytest

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.inputs import ChildStarted
from plait.kernel.limits import Limits
from tests.dialects.refs.player import Player, tool, workflow

CREATE = "COLLECTION_WORKFLOW_EXECUTION_CREATE"


def create(name: str = "again", **input: Any) -> dict[str, Any]:
    return tool(name, {"workflow_collection_id": "loop", **input}, toolName=CREATE)


def begin(player: Player, id: str) -> None:
    child = player.children[TaskToken(id)]
    player.give(ChildStarted(child.token, child.run_id))


def test_a_workflow_step_gives_its_childs_output() -> None:
    player = Player([workflow("kid", {"x": "@input.n"}), tool("b", {"y": "@kid.z"})]).start({"n": 1})
    child = player.children[TaskToken("kid")]
    assert (child.run_id, child.dialect, child.definition, bytes(child.input)) == ("run:kid", "", "kid", b'{"x":1}')
    player.child("kid", output={"z": 2})
    assert player.inputs["b"] == {"y": 2}


def test_a_definition_of_any_dialect_can_be_a_child() -> None:
    player = Player([workflow("kid", workflow={"dialect": "graph", "definition": {"nodes": []}})]).start()
    child = player.children[TaskToken("kid")]
    assert (child.dialect, child.definition) == ("graph", {"nodes": []})


def test_a_child_without_an_input_is_started_without_one() -> None:
    player = Player([workflow("kid"), workflow("other", {"n": 1})]).start()
    assert bytes(player.children[TaskToken("kid")].input) == b"null"
    assert bytes(player.children[TaskToken("other")].input) == b'{"n":1}'


def test_a_child_that_is_not_waited_for_goes_its_own_way() -> None:
    player = Player([workflow("kid", wait=False), tool("b", {"id": "@kid.id"})]).start()
    assert player.children[TaskToken("kid")].independent
    begin(player, "kid")
    assert player.inputs["b"] == {"id": "run:kid"}
    player.cancel()
    assert player.cancelled == []


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_child_that_nobody_waits_for_may_end_before_the_word_that_it_began(status: str) -> None:
    player = Player([workflow("kid", wait=False), tool("b", {"id": "@kid.id"})]).start()
    player.child("kid", status, error=ErrorInfo("x", "the card was declined") if status == "failed" else None)
    assert player.inputs["b"] == {"id": "run:kid"}
    player.give(ChildStarted(TaskToken("kid"), RunId("run:kid")))
    player.finish("b")
    assert player.status == "completed"


def test_a_failed_child_fails_its_step_with_the_childs_reason() -> None:
    player = Player([workflow("kid")]).start()
    player.child("kid", "failed", error=ErrorInfo("x", "the card was declined"))
    assert player.error.code == "child_failed"
    assert player.error.message == 'Step "kid" failed: child run `run:kid` failed: the card was declined'


def test_a_child_that_can_not_be_started_fails_its_step_also_when_nobody_waits() -> None:
    player = Player([workflow("kid", wait=False)]).start()
    player.child("kid", "refused", error=ErrorInfo("refs.not_found", "there is no workflow `kid`"))
    assert "there is no workflow `kid`" in player.error.message


def test_a_child_is_started_once_whatever_crashes_and_again_only_by_a_resume() -> None:
    player = Player([workflow("kid")]).start()
    player.children.clear()
    player.crash()
    assert not player.children, "it goes on by itself"
    player.give(ChildStarted(TaskToken("kid"), RunId("run:kid")))
    player.cancel()
    assert player.cancelled == ["run:kid"]
    player.retry()
    assert player.children[TaskToken("kid")].run_id == "run:kid:2"


# -- the seed's recursion ----------------------------------------------------------------------------------------------


def test_the_seeds_recursion_starts_the_same_workflow_with_another_input() -> None:
    steps = [
        tool("do_work", {"round": "@input.round"}),
        tool("evaluate", {"result": "@do_work"}),
        {**create(input={"round": "@evaluate.next"}), "when": {"ref": "@evaluate.done", "neq": True}},
    ]
    player = Player(steps).start({"round": 1})
    player.finish("do_work", {"ok": False})
    player.finish("evaluate", {"done": False, "next": 2})
    child = player.children[TaskToken("again")]
    assert (child.definition, bytes(child.input)) == ("loop", b'{"round":2}')
    begin(player, "again")
    assert player.output == {"item": {"id": "run:again"}}


def test_the_seeds_recursion_ends_when_it_is_done() -> None:
    steps = [tool("evaluate"), {**create(), "when": {"ref": "@evaluate.done", "neq": True}}]
    player = Player(steps).start()
    player.finish("evaluate", {"done": True})
    assert player.status == "completed"
    assert not player.children


def test_a_created_run_that_is_waited_for_gives_status_and_output() -> None:
    player = Player([create(wait=True)]).start()
    player.child("again", output=42)
    assert player.output == {"item": {"id": "run:again", "status": "success", "output": 42}}


def test_presets_a_start_time_servers_and_a_time_limit_reach_the_child() -> None:
    player = Player([create(presets={"a": 1}, start_at_epoch_ms=9, timeoutMs=500, virtual_mcp_id="sales")]).start()
    child = player.children[TaskToken("again")]
    assert child.definition == {"use": "loop", "presets": {"a": 1}, "start_at_epoch_ms": 9, "servers": ["sales"]}
    assert child.deadline == player.now + 500


def test_arguments_that_name_no_workflow_fail_the_step() -> None:
    player = Player([tool("again", {"input": 1}, toolName=f"plait:{CREATE}")]).start()
    assert "workflow_collection_id" in player.error.message


@pytest.mark.parametrize("step", [workflow("kid"), workflow("kid", wait=False), create("kid")])
def test_children_go_only_so_deep(step: dict[str, Any]) -> None:
    assert Player([step], depth=63).start().children
    player = Player([step], depth=64).start()
    assert player.error.code == "depth_exceeded"
    assert not player.children
    assert Player([step], depth=64, limits=Limits(max_depth=1_000)).start().children


def test_names_of_children_of_children_do_not_grow_without_end() -> None:
    from plait.dialects.refs.running.child_ids import child_id

    run = RunId("team/root")
    for _ in range(1_000):
        run = child_id(run, "a" * 64, 3, 2)
    assert run.startswith("team/root")
    assert len(run) < 300


def test_ten_thousand_children_are_started_a_part_at_a_time() -> None:
    step = workflow("kid", {"n": "@item"}, wait=True, forEach={"ref": "@input.l", "concurrency": 100})
    player = Player([step]).start({"l": list(range(10_000))})
    assert len(player.children) == 100
