"""Graphs under pressure: tokens that are held back, and payloads that are summarized."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from plait.agents.preview import MOST_BYTES as PREVIEW_BYTES
from plait.agents.preview import preview
from plait.kernel.inputs import Cancel
from tests.dialects.graph.drawing import drawn, human, task
from tests.dialects.graph.player import Player


def throttled(arrows: str, *nodes: dict[str, Any], **throttle: Any) -> Player:
    player = Player(drawn(arrows, *nodes, limits={"backpressure": {"throttle": throttle}}))
    player.start({"n": 1})
    return player


def under_way(player: Player) -> list[str]:
    return sorted(opened.task.node for opened in player.tasks.values())


def test_tokens_go_on_one_after_the_other_and_are_counted_meanwhile() -> None:
    player = throttled("A > B C D", tokens_per_s=2)
    began = player.now
    assert under_way(player) == ["A"]
    player.finish("A")
    assert under_way(player) == []
    assert player.machine.run.state.counter == 3
    assert [each["until"] - began for each in player.of("token.throttled")] == [500, 1_000, 1_500]
    player.ring()
    assert (player.now - began, under_way(player)) == (500, ["B"])
    player.crash()
    assert under_way(player) == ["B"]
    player.ring()
    player.ring()
    assert (player.now - began, under_way(player)) == (1_500, ["B", "C", "D"])
    for node in "BCD":
        player.finish(node)
    assert player.status == "completed"


def test_a_node_that_is_throttled_says_until_when() -> None:
    player = throttled("A > B", tokens_per_s=0.1)
    player.finish("A")
    [reason] = player.machine.waiting({})
    assert reason.text.startswith("`B` is throttled until ")
    assert player.machine.nodes({})[0][1].status == "waiting"


def test_nodes_of_every_sort_are_held_back_and_begin_once() -> None:
    choose = {"id": "D", "type": "decision", "branch": {"default": ["E"]}}
    child = {"id": "R", "type": "run", "config": {"definition": "x"}}
    later = {"id": "W", "type": "wait", "config": {"seconds": 1}}
    player = throttled("A > D R W H", choose, child, later, human("H"), task("E"), tokens_per_s=10)
    player.twice = True
    player.finish("A")
    while [each for each in player.timers if each.startswith("~throttle:")]:
        player.ring()
        player.crash()
    assert under_way(player) == ["E"]
    assert len(player.children) == len(player.approvals) == 1
    assert player.types.count("wait.started") == 1


def test_a_slow_graph_is_not_held_back() -> None:
    player = throttled("A > B", tokens_per_s=2)
    player.now += 600  # pyright: ignore[reportAttributeAccessIssue]
    player.finish("A")
    assert under_way(player) == ["B"]
    assert "token.throttled" not in player.types


def test_more_tokens_than_may_be_held_back_end_the_run_with_the_output_kept() -> None:
    player = throttled("A > B C D", tokens_per_s=1, max_queue_depth=2)
    player.finish("A", {"kept": True})
    assert player.error.code == "graph.exceeded_max_queue_depth"
    assert player.of("node.consumed")[0]["output"] == {"kept": True}
    assert "node.emitted" not in player.types


def test_a_throttled_run_can_be_cancelled() -> None:
    player = throttled("A > B", tokens_per_s=1)
    player.finish("A")
    player.give(Cancel("enough"), "cancel")
    assert player.status == "cancelled"
    assert not player.timers


def agent(limits: Any) -> Any:
    node = {"id": "A", "type": "agent", "agent_config": {"model": "tiny"}}
    player = Player(drawn("A", node, limits={"backpressure": limits}))
    player.start([{"name": f"row {i}", "text": "x" * 50} for i in range(400)])
    return msgspec.json.decode(player.open("A").task.input.payload)


@pytest.mark.parametrize("limits", ["summarize", {"summarize_bytes": 1_000}])
def test_an_agent_gets_a_large_payload_as_ref_and_preview(limits: Any) -> None:
    found = agent(limits)
    assert found["ref"].startswith("cas://sha256:")
    assert (found["preview"]["row_count"], len(found["preview"]["sample"])) == (400, 3)


@pytest.mark.parametrize("limits", ["terminate", {"summarize_bytes": 1_000_000}])
def test_an_agent_gets_a_payload_whole_unless_it_is_too_large(limits: Any) -> None:
    assert len(agent(limits)) == 400


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000,
        {"a": "x" * 10_000, "b": 1},
        {f"{i}" * 90: [["y" * 900] * 90] for i in range(200)},
        [["z" * 9_000]],
        7,
    ],
)
def test_a_preview_is_short(value: Any) -> None:
    assert len(msgspec.json.encode(preview(value))) <= PREVIEW_BYTES


def test_other_nodes_get_their_payload_whole() -> None:
    player = Player(drawn("A", task("A"), limits={"backpressure": "summarize"}))
    player.start("x" * 50_000)
    assert len(bytes(player.open("A").task.input.payload)) > 50_000
