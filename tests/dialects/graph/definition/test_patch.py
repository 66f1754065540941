"""Definitions changed by patches: nodes that nothing leads to, and guardrails that would be loosened."""

from __future__ import annotations

from typing import Any

import pytest

from plait.dialects.graph.definition.compile import compile_graph
from plait.dialects.graph.definition.guardrails import widened
from plait.dialects.graph.definition.ir import Ir
from plait.dialects.graph.definition.patch import added_agents, orphans, patch_definition
from plait.kernel.errors import PlaitError
from tests.dialects.graph.definition.graphs import Json, graph, loop, task


def ir(definition: Json) -> Ir:
    return compile_graph(definition).ir


def test_a_patch_speaks_of_nodes_by_their_id() -> None:
    before = graph(task("A"), task("B"), edges="A-B")
    after = patch_definition(before, [{"op": "add", "path": "/nodes/B/name", "value": "Last"}])
    assert after["nodes"][1]["name"] == "Last"
    assert "name" not in before["nodes"][1]
    with pytest.raises(PlaitError):
        patch_definition(before, [{"op": "replace", "path": "", "value": []}])


@pytest.mark.parametrize(
    ("added", "found"),
    [
        (task("C"), ["C"]),
        (task("C", dependencies=["A"]), []),
        (task("C", loop=loop()), ["C"]),
    ],
)
def test_an_added_node_must_be_led_to(added: Json, found: list[str]) -> None:
    before = graph(task("A"))
    after = graph(task("A"), added)
    assert [note.message for note in orphans(ir(before), ir(after))] == [
        f"nothing leads to the added node `{id}`; add an edge to it" for id in found
    ]


def test_added_agents_are_counted() -> None:
    agent = {"id": "C", "type": "agent", "agent_config": {"model": "fast"}}
    assert added_agents(ir(graph(task("A"))), ir(graph(task("A"), agent, edges="A-C"))) == 1


ALLOW = {"effect": "allow", "condition": "to_node == 'B'"}
DENY = {"effect": "deny", "condition": "to_node == 'C'"}


@pytest.mark.parametrize(
    ("before", "after", "loosened"),
    [
        ({"limits": {"max_hops": 10}}, {"limits": {"max_hops": 11}}, "limits.max_hops"),
        ({"limits": {"max_hops": 10}}, {"limits": {"max_hops": 9}}, None),
        ({"limits": {"max_hops": 10}}, {}, "limits.max_hops"),
        ({}, {"limits": {"max_fanout": 101}}, "limits.max_fanout"),
        ({}, {"limits": {"max_fanout": 5}}, None),
        ({"limits": {"max_wall_time_s": 5}}, {}, "limits.max_wall_time_s"),
        ({}, {"limits": {"max_cost_usd": 1}}, None),
        (
            {"limits": {"backpressure": {"throttle": {"tokens_per_s": 2}}}},
            {"limits": {"backpressure": {"throttle": {"tokens_per_s": 3}}}},
            "limits.backpressure",
        ),
        ({"limits": {"backpressure": {"throttle": {"tokens_per_s": 2}}}}, {}, "limits.backpressure"),
        ({"policy": {"allowed_transitions": {"A": ["B"]}}}, {}, "policy.allowed_transitions"),
        (
            {"policy": {"allowed_transitions": {"A": ["B"]}}},
            {"policy": {"allowed_transitions": {"A": ["B", "C"]}}},
            "policy.allowed_transitions",
        ),
        (
            {"policy": {"allowed_transitions": {"A": ["B"]}}},
            {"policy": {"allowed_transitions": {"B": ["C"]}}},
            "policy.allowed_transitions",
        ),
        (
            {"policy": {"allowed_transitions": {"A": ["B"], "B": ["C"]}}},
            {"policy": {"allowed_transitions": {"A": ["B"]}}},
            None,
        ),
        ({"policy": {"rules": [DENY]}}, {}, "policy.rules"),
        ({}, {"policy": {"rules": [DENY, ALLOW]}}, None),
        ({"policy": {"rules": [ALLOW]}}, {}, "policy.rules"),
        (
            {"policy": {"rules": [ALLOW]}},
            {"policy": {"rules": [ALLOW, {"effect": "allow", "condition": "true"}]}},
            "policy.rules",
        ),
        ({"policy": {"pii_fields": ["email"]}}, {}, "policy.pii_fields"),
    ],
)
def test_a_patch_may_tighten_and_never_loosen_the_whole(before: Json, after: Json, loosened: str | None) -> None:
    nodes = [task("A"), task("B"), task("C")]
    found = [note.what for note in widened(ir(graph(*nodes, **before)), ir(graph(*nodes, **after)))]
    assert found == ([] if loosened is None else [f"the patch loosens {loosened}"])


@pytest.mark.parametrize(
    ("before", "after", "loosened"),
    [
        ({"can_emit_to": ["B"]}, {"can_emit_to": ["B", "C"]}, "can_emit_to"),
        ({"can_emit_to": ["B", "C"]}, {"can_emit_to": ["B"]}, None),
        ({"can_emit_to": ["B"]}, {}, "can_emit_to"),
        ({"allowed_tools": []}, {"allowed_tools": ["x"]}, "allowed_tools"),
        ({"max_fanout": 1}, {"max_fanout": 2}, "max_fanout"),
        ({"requires_approval": True}, {}, "requires_approval"),
        ({}, {"requires_approval": True}, None),
    ],
)
def test_a_patch_may_tighten_and_never_loosen_a_node(before: Any, after: Any, loosened: str | None) -> None:
    old, new = (graph(task("A", capabilities=each), task("B"), task("C")) for each in (before, after))
    found = [(note.code, note.what) for note in widened(ir(old), ir(new))]
    expected = [("graph.widens_guardrail", f"the patch loosens `A`: capabilities.{loosened}")]
    assert found == ([] if loosened is None else expected)
