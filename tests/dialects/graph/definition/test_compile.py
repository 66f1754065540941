"""What a graph is compiled to: routes, joins, loops and their bodies, entries and ends."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plait.dialects.graph.definition.compile import check_graph, compile_graph, references_of
from plait.dialects.graph.definition.ir import Ir
from plait.dialects.graph.definition.source import Source
from plait.kernel import values
from tests.dialects.graph.definition.graphs import Json, flaws, graph, loop, task


def ir(definition: Json) -> Ir:
    return compile_graph(definition).ir


def test_edges_dependencies_and_dependents_say_the_same() -> None:
    written = [
        graph(task("A"), task("B"), edges="A-B"),
        graph(task("A"), task("B", dependencies=["A"])),
        graph(task("A", dependents=["B"]), task("B")),
        graph({"node_id": "A", "type": "task", "dependents": ["B"]}, task("B", dependencies=["A"]), edges="A-B"),
    ]
    assert len({ir(each).hash for each in written}) == 1
    found = ir(written[0])
    assert (found.entry_nodes, found.order) == (("A",), ("A", "B"))
    assert (found.nodes["A"].dependents, found.nodes["A"].is_terminal) == (("B",), False)
    assert (found.nodes["B"].dependencies, found.nodes["B"].is_terminal) == (("A",), True)


def test_a_node_with_several_dependencies_joins_unless_it_says_otherwise() -> None:
    nodes = ir(graph(task("A"), task("B"), task("C"), task("D", wait_for_all=False), edges="A-C B-C A-D B-D")).nodes
    assert [nodes[id].wait_for_all for id in "ABCD"] == [False, False, True, False]


def test_a_branch_owns_the_routes_of_its_node() -> None:
    branch = {"rules": [{"condition": "output.x", "next_nodes": ["B", "B"]}], "default": ["C"]}
    found = ir(graph(task("A", branch=branch), task("B"), task("C"), edges="A-B")).nodes["A"]
    assert (found.dependents, found.edges) == (("B", "C"), ())
    assert found.branch is not None
    assert found.branch.rules[0].next_nodes == ("B",)
    assert found.branch.rules[0].pointer == "/nodes/0/branch/rules/0"


def test_what_is_not_enabled_is_absent() -> None:
    node = task("A", loop=loop(enabled=False), branch={"enabled": False, "default": ["B"]})
    found = ir(graph(node, task("B"), edges="A-B")).nodes["A"]
    assert (found.loop, found.branch, found.edges) == (None, None, ("B",))


def test_conditional_edges_are_lowered_to_a_branch() -> None:
    definition = graph(task("A"), task("B"), task("C", dependencies=["A"]), task("D"))
    definition["edges"] = [
        {"from": "A", "to": "C", "condition": "output.x > 1"},
        {"from": "A", "to": "B", "condition": "output.x > 0"},
        {"from": "A", "to": "D"},
    ]
    compiled = compile_graph(definition)
    branch = compiled.ir.nodes["A"].branch
    assert branch is not None
    assert [(rule.next_nodes, rule.pointer) for rule in branch.rules] == [(("C",), "/edges/0"), (("B",), "/edges/1")]
    assert branch.default == ("D",)
    assert sorted(compiled.conditions) == ["/edges/0", "/edges/1"]
    assert compiled.ir.nodes["C"].dependencies == ("A",)


def test_a_missing_path_is_not_an_empty_one() -> None:
    without = ir(graph(task("A", loop=loop()), task("B"), edges="A-B")).nodes["A"]
    empty = ir(graph(task("A", loop=loop(break_path=[])))).nodes["A"]
    assert without.loop is not None
    assert (without.loop.break_path, without.loop.timeout_path, without.edges) == (None, None, ("B",))
    assert empty.loop is not None
    assert (empty.loop.break_path, empty.is_terminal) == ((), True)


def test_the_body_of_a_loop_is_what_lies_between() -> None:
    found = ir(
        graph(
            task("start"),
            task("A"),
            task("B"),
            task("side"),
            task("L", loop=loop(loop_back_to="A", break_path=["end"])),
            task("end"),
            edges="start-A A-B A-side B-L",
        )
    )
    body = found.nodes["L"].loop
    assert body is not None
    assert (body.loop_back_to, body.body) == ("A", ("A", "B", "L"))
    assert [id for id, node in found.nodes.items() if node.loops == ("L",)] == ["A", "B", "L"]
    assert found.nodes["A"].dependencies == ("start",)  # a back-edge is no dependency


def test_the_outer_loop_is_named_first() -> None:
    found = ir(
        graph(
            task("A"),
            task("B", loop=loop(loop_back_to="B")),
            task("C", loop=loop(loop_back_to="A", break_path=[])),
            edges="A-B B-C",
        )
    )
    assert found.nodes["B"].loops == ("C", "B")


def test_aliases_and_versions_of_types_are_told_apart() -> None:
    found = ir(graph({"id": "A", "type": "hitl"}, {"id": "B", "type": "http@v1", "config": {"url": "x"}}, edges="A-B"))
    assert (found.nodes["A"].type, found.nodes["B"].type, found.nodes["B"].type_version) == ("human", "http", "v1")


def test_null_means_never_where_the_language_says_so() -> None:
    human = {"id": "A", "type": "human", "human_config": {"timeout_hours": None}}
    found = ir(graph(human, {"id": "B", "type": "human", "human_config": {}, "limits": None}, edges="A-B"))
    configs = [found.nodes[id].human_config for id in "AB"]
    assert [None if config is None else config.timeout_hours for config in configs] == [None, 48.0]


def test_a_stored_config_is_loaded_before_and_pinned() -> None:
    ref = "cas://sha256:abc"
    definition = graph({"id": "A", "type": "http", "config_ref": {"type_url": "svc.pay/Config@1", "cas_ref": ref}})
    assert references_of(definition) == {ref}
    node = compile_graph(definition, blobs={ref: b'{"url": "https://x"}'}).ir.nodes["A"]
    assert (node.config, node.config_ref, node.type_url) == ({"url": "https://x"}, ref, "svc.pay/Config@1")
    assert flaws(definition) == [
        (
            "graph.bad_config",
            "/nodes/0/config_ref",
            f"`A`: config_ref {ref} is not stored, or no object; upload it",
        )
    ]
    found = check_graph(definition, blobs={ref: b"{}"}).flaws
    assert [note.message for note in found] == ["`A`: config.url is required by type `http`"]


def test_texts_that_conditions_refer_to_are_loaded_before() -> None:
    ref = "cas://sha256:def"
    condition = {"type": "schema_validation", "schema_ref": ref}
    definition = graph(task("A", loop=loop(condition=condition)))
    assert references_of(definition) == {ref}
    compiled = compile_graph(definition, blobs={ref: b'{"type": "object"}'})
    assert compiled.conditions["/nodes/0/loop"].evaluate({}).value is True
    assert [code for code, _, _ in flaws(definition)] == ["condition.ref_missing"]


def test_the_hash_follows_the_content_and_the_revision() -> None:
    one, other = graph(task("A")), graph(task("A", name="First"))
    assert ir(one).hash == ir(one).hash != ir(other).hash
    assert compile_graph(one, revision=2).ir.revision == 2


def test_what_was_compiled_is_read_back_from_the_log() -> None:
    found = ir(
        graph(
            task("A", loop=loop(break_path=["B"]), compensator={"action": "undo"}),
            {"id": "B", "type": "human", "human_config": {"escalation_policy": {"escalate_to": ["boss"]}}},
            limits={"backpressure": {"throttle": {"tokens_per_s": 2}}},
        )
    )
    assert msgspec.json.decode(msgspec.json.encode(found), type=Ir) == found


# -- properties --------------------------------------------------------------------------------------------------------

_ids = st.sampled_from(["A", "B", "C", "D", "Z"])
_scalars = st.none() | st.booleans() | st.integers(-3, 12) | st.text(max_size=4) | st.floats(allow_nan=False)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
_ways = st.lists(_ids, max_size=3)
_rules = st.lists(st.fixed_dictionaries({"condition": st.just("true") | _json, "next_nodes": _ways}), max_size=2)
_nodes = st.fixed_dictionaries(
    {"id": _ids | _json, "type": st.sampled_from(["task", "http", "human", "decision", "nope"]) | _json},
    optional={
        "dependencies": _ways | _json,
        "dependents": _ways,
        "wait_for_all": st.booleans() | _json,
        "loop": st.fixed_dictionaries(
            {"condition": st.just("output.x > 1") | _json, "max_iterations": st.integers(-1, 5) | _json},
            optional={"loop_back_to": _ids, "break_path": _ways, "timeout_path": _ways, "enabled": st.booleans()},
        )
        | _json,
        "branch": st.fixed_dictionaries({}, optional={"rules": _rules, "default": _ways, "type": _json}) | _json,
        "config": st.dictionaries(st.sampled_from(["url", "to"]), st.sampled_from(["$nodes.A.x", "${", "x"])) | _json,
        "rejection_path": _ways,
        "capabilities": st.fixed_dictionaries({}, optional={"can_emit_to": _ways, "max_fanout": _scalars}),
        "surprise": _json,
    },
)
_edges = st.fixed_dictionaries({"from": _ids, "to": _ids}, optional={"condition": st.just("true") | _json})
_graphs = st.fixed_dictionaries(
    {"nodes": st.lists(_nodes, max_size=5) | _json},
    optional={"edges": st.lists(_edges, max_size=5) | _json, "limits": _json, "policy": _json, "output": _json},
)


@given(_graphs | _json)
def test_any_json_is_compiled_or_refused_with_flaws_that_have_a_place(definition: object) -> None:
    checked = check_graph(definition)
    assert (checked.compiled is None) == bool(checked.flaws)
    for note in checked.flaws:
        assert note.code.startswith(("graph.", "condition."))
        assert note.message
        assert note.pointer == "" or note.pointer.startswith("/")


@given(_graphs)
def test_what_is_compiled_is_consistent(definition: object) -> None:
    compiled = check_graph(definition).compiled
    if compiled is None:
        return
    nodes, order = compiled.ir.nodes, compiled.ir.order
    assert sorted(order) == sorted(nodes)
    assert [*compiled.ir.entry_nodes] == [id for id, node in nodes.items() if not node.dependencies]
    for id, node in nodes.items():
        assert node.is_terminal == (not node.dependents)
        assert all(order.index(before) < order.index(id) for before in node.dependencies)
        assert all(id in nodes[target].dependencies for target in node.dependents)
        assert node.loop is None or {id, node.loop.loop_back_to} <= set(node.loop.body)


@given(_graphs)
def test_reading_writing_and_reading_again_gives_the_same(definition: object) -> None:
    first = check_graph(definition).compiled
    if first is None:
        return
    written = values.decode(values.encode(first.source))
    again = compile_graph(written)
    assert again.source == first.source
    assert again.ir == first.ir
    assert msgspec.convert(written, Source) == first.source


@pytest.mark.parametrize("definition", [None, 1, "graph", [], {}, {"nodes": None}, {"nodes": [None], "edges": 3}])
def test_what_is_no_graph_at_all_is_refused(definition: object) -> None:
    assert flaws(definition)
