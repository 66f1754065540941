"""Loops, branches, conditional edges and choices of handlers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.graph.drawing import branch, drawn, rule, task
from tests.dialects.graph.player import Player


def looping(**more: Any) -> dict[str, Any]:
    loop = {"condition": "output.status != 200", "max_iterations": 3, **more}
    ends = "late" if "timeout_path" in more else ""
    return drawn(f"call > done, {ends}", task("call", loop=loop))


def test_a_loop_goes_round_while_its_condition_is_true() -> None:
    player = Player(looping(break_path=["done"], timeout_path=["late"]))
    player.start()
    player.finish("call", {"status": 500})
    player.finish("call", {"status": 200})
    assert player.open("done")
    assert [each["iteration"] for each in player.of("loop.continued")] == [2]
    assert player.of("loop.exited") == [
        {"type": "loop.exited", "node_id": "call", "iteration": 2, "exit": "break", "next_nodes": ["done"]}
    ]


def test_success_on_the_last_iteration_is_success() -> None:
    player = Player(looping(break_path=["done"], timeout_path=["late"]))
    player.start()
    for status in (500, 500, 200):
        player.finish("call", {"status": status})
    assert player.open("done")


def test_a_loop_that_is_used_up_takes_the_timeout_path() -> None:
    player = Player(looping(break_path=["done"], timeout_path=["late"]))
    player.start()
    for _ in range(3):
        player.finish("call", {"status": 500})
    assert player.open("late")


def test_a_loop_that_is_used_up_without_a_timeout_path_fails_its_node() -> None:
    player = Player(looping())
    player.start()
    for _ in range(3):
        player.finish("call", {"status": 500})
    assert player.of("node.failed")[0]["error"]["code"] == "graph.loop_exhausted"
    assert player.status == "failed"
    assert player.error.code == "graph.node_failed"


def test_a_loop_without_break_path_goes_on_along_the_edges() -> None:
    player = Player(looping(timeout_path=["late"]))
    player.start()
    player.finish("call", {"status": 200})
    assert player.open("done")
    assert player.of("loop.exited")[0]["exit"] == "next"


def test_a_loop_condition_that_cannot_be_judged_fails_the_attempt_for_good() -> None:
    player = Player(looping(break_path=["done"], timeout_path=["late"]))
    player.start()
    player.finish("call", {"code": 200})
    assert player.of("condition.error")[0]["code"] == "condition.no_such_field"
    assert player.of("node.failed")[0]["error"]["code"] == "graph.condition_error"


def test_a_loop_entered_anew_by_an_outer_loop_starts_at_one() -> None:
    inner = task("I", loop={"condition": "output.again", "max_iterations": 2, "timeout_path": ["O"]})
    outer = task("O", loop={"condition": "output.again", "max_iterations": 2, "loop_back_to": "I", "timeout_path": []})
    player = Player(drawn("I > O", inner, outer))
    player.start()
    for node in "IIOIIO":
        player.finish(node, {"again": True})
    assert player.status == "completed"
    assert [(each["node_id"], each["iteration"]) for each in player.of("loop.continued")] == [
        ("I", 2),
        ("O", 2),
        ("I", 2),
    ]


def test_the_first_rule_that_is_true_wins() -> None:
    score = task("A", branch=branch(rule("output.score > 80", "hi"), rule("output.score > 10", "mid"), default=["lo"]))
    for given, expected in ((90, "hi"), (50, "mid"), (1, "lo")):
        player = Player(drawn("hi, mid, lo", score))
        player.start()
        player.finish("A", {"score": given})
        assert [opened.task.node for opened in player.tasks.values()] == [expected]


def test_a_rule_with_an_empty_list_ends_the_path() -> None:
    stop = task("A", branch=branch(rule("output.stop"), default=["B"]))
    player = Player(drawn("B", stop))
    player.start()
    player.finish("A", {"stop": True})
    assert player.output == {"A": {"stop": True}}


def test_a_rule_that_cannot_be_judged_counts_as_false() -> None:
    player = Player(drawn("B, C", task("A", branch=branch(rule("output.scor > 1", "B"), default=["C"]))))
    player.start()
    player.finish("A", {"score": 5})
    assert player.open("C")
    assert player.of("condition.error")[0]["where"] == "rule 0"


def test_conditional_edges_are_taken_in_order_and_the_rest_is_the_default() -> None:
    graph = drawn("A, B, C")
    graph["edges"] = [{"from": "A", "to": "B", "condition": "output.n > 5"}, {"from": "A", "to": "C"}]
    for given, expected in ((9, "B"), (1, "C")):
        player = Player(graph)
        player.start()
        player.finish("A", {"n": given})
        assert [opened.task.node for opened in player.tasks.values()] == [expected]


def chosen(*next_nodes: str, output: Any = None) -> dict[str, Any]:
    return {"plait.route": {"output": output, "next_nodes": list(next_nodes), "reasoning": "it said so"}}


def choosing() -> dict[str, Any]:
    choice = {"type": "agent_driven", "available_next_nodes": ["sales", "gift"], "default": ["other"]}
    return drawn("sales, gift, other", task("A", branch=choice))


def test_a_handler_chooses_from_what_is_allowed() -> None:
    player = Player(choosing())
    player.start()
    player.finish("A", chosen("sales", "gift", "sales", output=7))
    assert player.of("node.emitted")[0]["to_nodes"] == ["sales", "gift"]
    assert player.of("branch.taken")[0]["reasoning"] == "it said so"
    assert player.of("node.consumed")[0]["output"] == 7


@pytest.mark.parametrize("output", [chosen(), {"plain": 1}])
def test_without_a_choice_the_default_is_taken(output: Any) -> None:
    player = Player(choosing())
    player.start()
    player.finish("A", output)
    assert player.open("other")


def test_a_choice_that_is_not_allowed_is_refused_whole_and_tried_again() -> None:
    player = Player(choosing())
    player.start()
    player.finish("A", chosen("sales", "bank"))
    assert player.types[-1] == "task.retry_scheduled"
    assert not player.of("node.emitted")
    for _ in range(2):
        player.ring()
        player.finish("A", chosen("bank"))
    assert player.of("node.failed")[0]["error"]["code"] == "graph.route_denied"


def test_nodes_that_decide_are_settled_in_the_decision_that_reaches_them() -> None:
    decision = {"id": "D", "type": "decision", "branch": branch(rule("output.n > 1", "B"), default=["C"])}
    shape = {"id": "T", "type": "transform", "config": {"output": {"double": "$payload.n", "by": "${input.who}!"}}}
    sum_ = {"id": "S", "type": "transform", "config": {"cel": "{'n': payload.double + 1}"}}
    player = Player(drawn("A > T > S > D, B, C", decision, shape, sum_))
    player.start({"who": "ann"})
    player.finish("A", {"n": 4})
    assert [each["output"] for each in player.of("node.consumed")[1:3]] == [{"double": 4, "by": "ann!"}, {"n": 5}]
    assert player.of("branch.taken")[0]["next_nodes"] == ["B"]
    assert player.open("B")


def test_a_template_that_finds_nothing_fails_its_node() -> None:
    node = task("B", config={"to": "$nodes.A.mail"})
    player = Player(drawn("A > B", node))
    player.start()
    player.finish("A", {"name": "ann"})
    failed = player.of("node.failed")[0]["error"]
    assert failed["code"] == "graph.template_unresolved"
    assert "has no `mail`" in failed["message"]


def test_a_long_inline_loop_is_spread_over_several_decisions() -> None:
    spin = {
        "id": "D",
        "type": "transform",
        "config": {"cel": "1"},
        "loop": {"condition": "true", "max_iterations": 2_500, "timeout_path": []},
    }
    player = Player(drawn("D", spin, limits={"max_hops": 5_000}))
    player.start()
    assert player.status == "completed"
    assert len(player.of("node.consumed")) == 2_500
