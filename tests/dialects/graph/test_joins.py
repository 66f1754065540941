"""Joins: what they wait for, and what they no longer wait for."""

from __future__ import annotations

from tests.dialects.graph.drawing import branch, drawn, rule, task
from tests.dialects.graph.player import Player


def test_a_branch_before_a_join_does_not_hang_it() -> None:
    choice = task("A", branch=branch(rule("output.big", "B"), default=["C"]))
    player = Player(drawn("B C > D", choice))
    player.start()
    player.finish("A", {"big": True})
    player.finish("B")
    [fired] = player.of("join.fired")
    assert (fired["arrived"], fired["dead"]) == (["B"], ["C"])
    player.finish("D")
    assert player.output == {"D": {"node": "D"}}


def test_a_join_waits_while_a_token_may_still_come() -> None:
    player = Player(drawn("A > B X, X > C, B C > D"))
    player.start()
    player.finish("A")
    player.finish("B")
    assert not player.of("join.fired")
    player.finish("X")
    assert not player.of("join.fired")
    player.finish("C")
    assert player.of("join.fired")


def test_a_dead_letter_is_waited_for_until_it_is_discarded() -> None:
    from plait.kernel.inputs import Resume

    player = Player(drawn("A > B C > D", on_failure="hold"))
    player.start()
    player.finish("A")
    player.finish("B")
    player.finish("C", error="broken")
    assert player.status == "running"
    assert not player.of("join.fired")
    [letter] = player.letters.values()
    player.give(Resume("settle", token=letter.token, verdict="discard"), "discard")
    assert player.of("join.fired")[0]["dead"] == ["C"]
    assert player.of("token.discarded")[0]["delta"] == -1
    player.finish("D")
    assert player.status == "completed"


def test_a_back_edge_fires_a_join_node_alone() -> None:
    again = {"condition": "output.again", "max_iterations": 3, "loop_back_to": "J"}
    player = Player(drawn("A B > J > L", task("L", loop=again)))
    player.start()
    player.finish("A")
    player.finish("B")
    player.finish("J")
    player.finish("L", {"again": True})
    assert len(player.of("join.fired")) == 1
    player.finish("J")
    player.finish("L", {"again": False})
    assert player.status == "completed"


def test_rounds_of_a_loop_do_not_meet_in_a_join() -> None:
    again = {"condition": "output.again", "max_iterations": 3, "loop_back_to": "A"}
    player = Player(drawn("A > B C > J", task("J", loop=again)))
    player.start()
    for last in (False, True):
        for node in "ABC":
            player.finish(node)
        player.finish("J", {"again": not last})
    assert [fired.get("round") for fired in player.of("join.fired")] == [[1], [2]]
    assert player.status == "completed"


def test_a_wide_join_takes_all_its_tokens_in_one_firing() -> None:
    nodes = [f"w{i}" for i in range(90)]
    player = Player(drawn(f"S > {' '.join(nodes)} > J"))
    player.start()
    player.finish("S")
    for node in reversed(nodes):
        player.finish(node)
    [fired] = player.of("join.fired")
    assert fired["arrived"] == nodes
    assert player.counters[-1] == (89, 90)
    player.finish("J")
    assert player.status == "completed"
