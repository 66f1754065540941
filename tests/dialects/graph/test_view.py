"""What people see of a run while its tokens are under way."""

from __future__ import annotations

from plait.kernel.view import Node
from tests.dialects.graph.drawing import drawn, human
from tests.dialects.graph.player import Player


def shown(player: Player, id: str) -> Node:
    nodes, _ = player.machine.nodes({})
    return next(node for node in nodes if node.id == id)


def ways(player: Player) -> set[tuple[str, str]]:
    _, edges = player.machine.nodes({})
    return {(edge.source, edge.target) for edge in edges if edge.chosen}


def test_a_way_is_taken_as_soon_as_a_token_is_on_it() -> None:
    player = Player(drawn("A > B C > D"))
    player.start()
    assert ways(player) == set()
    player.finish("A")
    assert ways(player) == {("A", "B"), ("A", "C")}
    player.finish("B")
    assert ways(player) == {("A", "B"), ("A", "C"), ("B", "D")}


def test_a_parked_join_says_what_it_has_and_waits_for() -> None:
    player = Player(drawn("A > B C > D"))
    player.start()
    player.finish("A")
    player.finish("B")
    details = player.machine.details()
    assert details is not None
    assert details["joins"] == [{"node": "D", "has": ["B"], "waits_for": ["C"], "tokens": 1}]
    assert [(token["node"], token["from"], token["parked"]) for token in details["tokens"]] == [
        ("C", "A", False),
        ("D", "B", True),
    ]


def test_a_human_node_names_the_approval_that_it_waits_for() -> None:
    player = Player(drawn("H", human("H")))
    player.start()
    [asked] = player.of("approval.created")
    assert shown(player, "H").token == asked["approval_id"]
