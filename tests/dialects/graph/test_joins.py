"""Joins: what they wait for, and what they no longer wait for."""

from __future__ import annotations

from plait.kernel.tasks import OpenTask
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


def test_a_join_in_a_loop_waits_for_a_token_that_is_a_round_behind() -> None:
    """Two tokens go round; in the second round one comes by B, the other by C. The slower one is waited for."""
    split = task("S", wait_for_all=False, branch=branch(rule("output.way == 'B'", "B"), default=["C"]))
    again = task("L", loop={"condition": "output.again", "max_iterations": 2, "loop_back_to": "S"})
    player = Player(drawn("X Y > S, B C > J > L", split, again, task("B"), task("C")))
    player.start()

    def go(*steps: tuple[str, int, dict[str, object]]) -> None:
        for node, round, output in steps:
            found = [each for each in player.tasks.values() if each.task.node == node and round_of(each) == round]
            player.end(found[0], output)

    def round_of(opened: OpenTask) -> int:
        execution = player.machine.run.by_task(opened.task.token)
        return execution.loops.get("L", 1) if execution is not None else 0

    go(("X", 1, {}), ("Y", 1, {}), ("S", 1, {"way": "B"}), ("S", 1, {"way": "B"}))
    go(("B", 1, {}), ("J", 1, {}), ("L", 1, {"again": True}), ("S", 2, {"way": "B"}), ("B", 2, {}))
    assert [fired["round"] for fired in player.of("join.fired")] == [[1]]
    player.crash()
    go(("B", 1, {}), ("J", 1, {}), ("L", 1, {"again": True}), ("S", 2, {"way": "C"}), ("C", 2, {}))
    last = player.of("join.fired")[-1]
    assert (last["round"], last["arrived"]) == ([2], ["B", "C"])
    go(("J", 2, {}), ("L", 2, {"again": False}))
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
