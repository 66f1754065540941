"""Changing the graph of a run while it runs."""

from __future__ import annotations

from typing import Any

import pytest

from plait.kernel.inputs import Patch
from tests.dialects.graph.drawing import drawn, human, task
from tests.dialects.graph.player import Player


def patched(player: Player, *operations: dict[str, Any], base: int | None = None) -> str:
    """Its answer, as text."""
    player.give(Patch(list(operations), "ann", base), f"patch-{len(player.events)}")
    return bytes(player.replies[-1].reply or b"").decode()


def add(*nodes: dict[str, Any], **edges: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"op": "add", "path": "/nodes/-", "value": node} for node in nodes]
    return found + [
        {"op": "add", "path": "/edges/-", "value": {"from": source, "to": target}} for source, target in edges.items()
    ]


def test_a_node_that_is_added_behind_one_that_runs_is_reached() -> None:
    player = Player(drawn("A > B"))
    player.start()
    patched(player, *add(task("C"), A="C"))
    assert player.of("patch.applied")[0]["revision"] == 2
    player.finish("A")
    assert player.of("node.emitted")[0]["to_nodes"] == ["B", "C"]
    assert player.of("node.consumed")[0]["revision"] == 2
    player.crash()
    player.finish("B")
    player.finish("C")
    assert player.status == "completed"


def test_the_other_run_of_the_same_graph_is_untouched() -> None:
    player = Player(drawn("A > B"))
    player.start()
    other = Player(drawn("A > B"), bundle=player.bundle)
    other.start()
    patched(player, *add(task("C"), A="C"))
    other.finish("A")
    assert other.of("node.emitted")[0]["to_nodes"] == ["B"]


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([{"op": "remove", "path": "/nodes/B"}], "graph.invalid"),
        ([{"op": "remove", "path": path} for path in ("/edges/1", "/edges/0", "/nodes/B")], "graph.node_in_use"),
        ([{"op": "replace", "path": "/nodes/B/type", "value": "human"}], "graph.node_in_use"),
        (add(task("X")), "graph.orphan_node"),
        (add(task("X"), A="X"), "graph.source_finished"),
        (add(task("X"), B="X", X="B"), "graph.invalid"),
        ([{"op": "add", "path": "/limits", "value": {"max_hops": 1000}}], "graph.widens_guardrail"),
        ([{"op": "replace", "path": "/nodes/nobody/type", "value": "task"}], "definitions.bad_patch"),
    ],
)
def test_a_patch_that_is_refused_leaves_the_run_as_it_is(operations: Any, code: str) -> None:
    player = Player(drawn("A > B > C"))
    player.start()
    player.finish("A")
    before = bytes(player.machine.run.state.definition)
    answer = patched(player, *operations)
    assert code in answer
    [rejected] = player.of("patch.rejected")
    assert rejected["code"] == code
    assert bytes(player.machine.run.state.definition) == before
    assert player.run.state.revision == 1
    player.finish("B")
    player.finish("C")
    assert player.status == "completed"


def test_a_patch_for_another_revision_is_refused() -> None:
    player = Player(drawn("A > B"))
    player.start()
    patched(player, *add(task("C"), A="C"))
    assert "stale" in patched(player, *add(task("D"), A="D"), base=1)


def test_a_join_that_nothing_can_reach_any_more_because_of_a_patch_fires() -> None:
    player = Player(drawn("A > B X, X > C, B C > D, C > E"))
    player.start()
    player.finish("A")
    player.finish("B")
    patched(player, {"op": "remove", "path": "/edges/2"}, *add(X="E"))
    player.finish("X")
    assert player.status == "running"


def test_outgoing_routes_of_a_node_in_use_may_change() -> None:
    player = Player(drawn("A > boss > B", human("boss")))
    player.start()
    player.finish("A")
    patched(player, *add(task("C"), boss="C"))
    player.decide("boss")
    assert player.of("node.emitted")[-1]["to_nodes"] == ["B", "C"]


def test_the_view_says_revision_and_patches() -> None:
    player = Player(drawn("A > B"))
    player.start()
    patched(player, *add(task("C"), A="C"))
    details = player.machine.details()
    assert details is not None
    assert details["revision"] == 2
    assert len(details["patches"]) == 1
