"""Every row of the spec's table of flaws, with its message as it is printed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from plait.definitions.flaws import InvalidDefinition
from plait.dialects.graph.definition.compile import check_graph, compile_graph
from plait.dialects.graph.definition.limits import MAX_EDGES, MAX_NODES
from tests.dialects.graph.definition.graphs import Json, flaws, graph, loop, task, warnings

KNOWN = "agent, decision, function, http, human, migration, run, task, tool, transform, wait"


def rule(*next_nodes: str, condition: Any = "output.x > 1") -> Json:
    return {"condition": condition, "next_nodes": [*next_nodes]}


ROWS: list[tuple[str, Json, str, str]] = [
    (
        "bad_shape",
        graph(task("A", depends_on=["B"]), task("B")),
        "/nodes/0/depends_on",
        "node `A`: unknown field `depends_on`; did you mean `dependencies`?",
    ),
    ("no_nodes", graph(), "/nodes", "a workflow needs at least one node"),
    ("duplicate_id", graph(task("A"), task("A")), "/nodes/1/id", "duplicate node id `A`; rename one"),
    (
        "unknown_type",
        graph({"id": "A", "type": "frobnicate"}),
        "/nodes/0/type",
        f"unknown node type `frobnicate`; known: {KNOWN}",
    ),
    (
        "bad_config",
        graph({"id": "A", "type": "http"}),
        "/nodes/0/config",
        "`A`: config.url is required by type `http`",
    ),
    (
        "unknown_target",
        graph(task("A", loop=loop(break_path=["Z"])), task("B")),
        "/nodes/0/loop/break_path/0",
        "`A`.break_path names non-existent node `Z`; nearest: `B`",
    ),
    ("self_edge", graph(task("A"), task("B"), edges="A-B B-B"), "/edges/1", "self edge on `B`; use `loop`"),
    (
        "bad_loop",
        graph(task("A", loop=loop(max_iterations=0))),
        "/nodes/0/loop/max_iterations",
        "`A`: max_iterations must be an integer of 1 or more, got 0",
    ),
    (
        "loop_target",
        graph(task("A", loop=loop(loop_back_to="C")), task("C"), edges="A-C"),
        "/nodes/0/loop/loop_back_to",
        "`A`: loop_back_to `C` is not `A` or upstream of it",
    ),
    (
        "bad_branch",
        graph(task("A", branch={"type": "conditional"})),
        "/nodes/0/branch",
        "`A`: branch must have rules or default (`agent_driven`: available_next_nodes) and no conditional edges",
    ),
    (
        "no_terminal",
        graph(task("A"), task("B"), task("C"), edges="A-B B-C C-B"),
        "/nodes",
        "workflow has no terminal nodes (would run forever); or set allow_endless",
    ),
    (
        "no_entry",
        graph(task("A"), task("B"), task("C"), edges="A-B B-A A-C"),
        "/nodes",
        "no entry nodes: every node waits for another",
    ),
    (
        "cycle",
        graph(task("A"), task("B"), task("C"), task("D"), edges="A-B B-C C-B C-D"),
        "/nodes/2",
        "cycle without loop: B → C → B; put `loop` on C",
    ),
    (
        "dead_dependency",
        graph(task("B", branch={"rules": [rule("C")]}), task("C"), task("D", dependencies=["B"])),
        "/nodes/2/dependencies/0",
        "`D` depends on `B`, but `B` routes only to `C`",
    ),
    (
        "too_large",
        graph(task("A", loop=loop(max_iterations=10_001)), limits={"max_hops": 20_000}),
        "/nodes/0/loop/max_iterations",
        "`A`: max_iterations is 10,001, limit 10,000",
    ),
]


@pytest.mark.parametrize(("code", "definition", "pointer", "message"), ROWS, ids=[row[0] for row in ROWS])
def test_each_flaw_is_told_with_code_pointer_and_message(
    code: str, definition: Json, pointer: str, message: str
) -> None:
    assert (f"graph.{code}", pointer, message) in flaws(definition)


def test_a_condition_that_can_not_be_read_is_told_with_its_place() -> None:
    definition = graph(task("A", branch={"rules": [rule("B", condition="output.score >=")]}), task("B"))
    ((code, pointer, message),) = flaws(definition)
    assert (code, pointer) == ("condition.syntax", "/nodes/0/branch/rules/0/condition")
    assert message.startswith("invalid condition at /nodes/0/branch/rules/0: ")
    assert "it ends early" in message


def test_a_condition_on_a_node_that_is_not_there_names_the_nearest() -> None:
    definition = graph(
        task("enrich_data"),
        task("A", branch={"rules": [rule("B", condition="ctx.enrich.output.x > 1")]}),
        task("B"),
        edges="enrich_data-A",
    )
    ((code, _, message),) = flaws(definition)
    assert code == "condition.unknown_node"
    assert message.endswith("condition reads `ctx.enrich`, no such node; nearest: enrich_data")


def test_all_flaws_are_told_at_once_and_in_the_order_of_the_table() -> None:
    definition = graph(
        task("A", depends_on=[]),
        task("A"),
        {"id": "T", "type": "frobnicate"},
        {"id": "H", "type": "http"},
        task("L", loop=loop(max_iterations=0, timeout_path=["Z"])),
        task("S", branch={}),
        task("C", branch={"rules": [rule("S", condition="(")]}),
        task("D", dependencies=["C"]),
        task("M", loop=loop(max_iterations=20_000)),
        edges="S-S",
        limits={"max_hops": 0},
    )
    found = [code for code, _, _ in flaws(definition)]
    assert found == [
        "graph.bad_shape",
        "graph.bad_shape",
        "graph.duplicate_id",
        "graph.unknown_type",
        "graph.bad_config",
        "graph.unknown_target",
        "graph.self_edge",
        "graph.bad_loop",
        "graph.bad_branch",
        "condition.syntax",
        "graph.dead_dependency",
        "graph.too_large",
    ]


def test_the_refusal_names_the_first_flaw_and_carries_all() -> None:
    with pytest.raises(InvalidDefinition) as caught:
        compile_graph(graph(task("A"), task("A"), {"id": "B", "type": "nope"}))
    assert caught.value.code == "graph.invalid"
    assert caught.value.status == 422
    assert caught.value.text == "duplicate node id `A`. To fix: rename one (and 1 more)"
    assert [flaw.code for flaw in caught.value.flaws] == ["graph.duplicate_id", "graph.unknown_type"]


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"type": "task"}, "node 0: id is required"),
        ({"id": "a b", "type": "task"}, "node `a b`: id must be 1 to 64 letters, digits, `_` or `-`, got `a b`"),
        ({"id": "A"}, "node `A`: type is required"),
        (task("A", retry={"max_attempts": 11}), "node `A`: retry.max_attempts must be an integer from 1 to 10, got 11"),
        (task("A", retry={"tries": 2}), "node `A`: unknown field `retry.tries`; did you mean `multiplier`?"),
        (task("A", dependencies="B"), "node `A`: dependencies must be an array, got `B`"),
        (task("A", wait_for_all="yes"), "node `A`: wait_for_all must be true or false, got `yes`"),
        (task("A", loop={"max_iterations": 2}), "node `A`: loop.condition is required"),
        (task("A", limits={"deadline_s": 0}), "node `A`: limits.deadline_s must be a number above 0, got 0"),
        (task("A", config=[1]), "node `A`: config must be an object, got an array"),
        (3, "node 0 must be an object, got 3"),
    ],
)
def test_what_has_the_wrong_shape_says_what_was_wanted(node: Any, message: str) -> None:
    found = [text for code, _, text in flaws({"nodes": [node]}) if code == "graph.bad_shape"]
    assert len(found) == 1
    assert found[0].split("; known:")[0].split("; did you mean")[0] == message.split("; did you mean")[0]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"url": "x", "method": "GIT"}, "config.method must be one of GET, HEAD, POST"),
        ({"url": "x", "bdy": 1}, "config.bdy is unknown to type `http`; did you mean `body`?"),
        ({"url": 5}, "config.url must be of type string, got 5"),
        ({"url": "${foo}"}, "config.url: `${foo}` is no template"),
        ({"url": "${input.x"}, "config.url: template `${input.x` has no end"),
    ],
)
def test_a_config_is_checked_by_the_schema_of_its_type(config: Json, message: str) -> None:
    ((code, _, text),) = flaws(graph({"id": "A", "type": "http", "config": config}))
    assert code == "graph.bad_config"
    assert text.startswith(f"`A`: {message}")


def test_a_template_fits_any_field_until_it_is_resolved() -> None:
    config = {"url": "$input.url", "method": "${input.method}", "headers": "$payload.headers"}
    assert flaws(graph({"id": "A", "type": "http", "config": config})) == []


def test_a_wait_needs_one_reason() -> None:
    ((_, _, text),) = flaws(graph({"id": "A", "type": "wait", "config": {}}))
    assert text == "`A`: config must have exactly one of seconds, until, message by type `wait`"


def test_templates_may_only_speak_of_nodes_that_are_there() -> None:
    ((code, pointer, text),) = flaws(graph(task("fetch", config={"to": "$nodes.fetsh.mail"})))
    assert (code, pointer) == ("graph.unknown_target", "/nodes/0/config")
    assert text == "`fetch`.config names non-existent node `fetsh`; nearest: `fetch`"


def test_a_decision_needs_something_to_decide() -> None:
    ((code, _, text),) = flaws(graph({"id": "A", "type": "conditional"}))
    assert (code, text) == ("graph.bad_branch", "`A`: type `decision` needs a branch or conditional edges")


def test_a_branch_beside_conditional_edges_is_refused() -> None:
    definition = graph(task("A", branch={"default": ["B"]}), task("B"))
    definition["edges"] = [{"from": "A", "to": "B", "condition": "true"}]
    assert [code for code, _, _ in flaws(definition)] == ["graph.bad_branch"]


def test_an_endless_graph_may_be_meant() -> None:
    definition = graph(task("A", loop=loop(loop_back_to="A")), task("B", dependencies=["A"]))
    assert flaws(definition) == []
    endless = graph(task("A", branch={"default": ["B"]}), task("B", branch={"default": ["A"]}), allow_endless=True)
    assert "graph.no_terminal" not in [code for code, _, _ in flaws(endless)]


@pytest.mark.parametrize("count", [MAX_NODES, MAX_NODES + 1])
def test_a_graph_has_at_most_a_thousand_nodes(count: int) -> None:
    found = flaws(graph(*(task(f"n{number}") for number in range(count))))
    expected = [("graph.too_large", "/nodes")] if count > MAX_NODES else []
    assert [(code, pointer) for code, pointer, _ in found] == expected
    assert not found or found[0][2].startswith("the workflow has 1,001 nodes, limit 1,000")


def test_a_graph_has_at_most_so_many_edges_and_bytes() -> None:
    many = graph(task("A"), task("B"))
    many["edges"] = [{"from": "A", "to": "B"}] * (MAX_EDGES + 1)
    assert [code for code, _, _ in flaws(many)] == ["graph.too_large"]
    large = graph(task("A", config={"text": "x" * 1024 * 1024}))
    assert "limit 1,048,576" in flaws(large)[0][2]


def test_a_chain_of_a_thousand_nodes_is_compiled() -> None:
    names = [f"n{number}" for number in range(MAX_NODES)]
    edges = " ".join(f"{a}-{b}" for a, b in pairwise(names))
    compiled = compile_graph(graph(*map(task, names), edges=edges))
    assert [*compiled.ir.order] == names


def test_a_definition_that_is_wrong_from_end_to_end_is_answered_soon() -> None:
    """Suggestions are made for the first flaws only: looking for similar names is slow."""
    nodes = [task(f"node_{number}", dependents=[f"nodes_{number}_{i}" for i in range(20)]) for number in range(1_000)]
    found = check_graph(graph(*nodes)).flaws
    assert len(found) == 20_000
    assert sum("nearest" in note.fix for note in found) == 100


# -- warnings ----------------------------------------------------------------------------------------------------------


def test_edges_that_a_branch_overrides_are_a_warning() -> None:
    definition = graph(task("A", branch={"rules": [rule("B")]}), task("B"), edges="A-B")
    assert warnings(definition) == [
        ("graph.edges_overridden", "`A`: its edges are not taken, since its branch routes; remove them")
    ]


def test_a_branch_behind_a_break_path_is_a_warning() -> None:
    definition = graph(task("A", loop=loop(break_path=["B"]), branch={"default": ["B"]}), task("B"))
    assert [code for code, _ in warnings(definition)] == ["graph.branch_unreachable"]


def test_more_targets_than_allowed_are_a_warning() -> None:
    definition = graph(task("A"), task("B"), task("C"), edges="A-B A-C", limits={"max_fanout": 1})
    assert warnings(definition) == [
        (
            "graph.fanout_over_limit",
            "`A`: sends up to 2 tokens at once, max_fanout is 1; raise limits.max_fanout, or send to fewer nodes",
        )
    ]


def test_a_loop_that_runs_out_of_hops_is_a_warning() -> None:
    definition = graph(task("A"), task("B", loop=loop(max_iterations=60, loop_back_to="A")), edges="A-B")
    ((code, text),) = warnings(definition)
    assert code == "graph.loop_over_hops"
    assert text.startswith("`B`: 60 iterations take 120 hops, max_hops is 100")


def test_loops_that_cross_each_other_are_a_warning() -> None:
    definition = graph(
        task("A"),
        task("B"),
        task("C", loop=loop(loop_back_to="A")),
        task("D", loop=loop(loop_back_to="B")),
        edges="A-B B-C C-D",
    )
    assert [code for code, _ in warnings(definition)] == ["graph.loops_overlap"]
