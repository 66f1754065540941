"""Definitions that are wrong in thousands of places: refused with the first flaws, and in time that does not grow with
what else is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from plait import conditions
from plait.definitions.flaws import MOST
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.graph.definition.compile import compile_graph
from plait.dialects.graph.definition.limits import MAX_EDGES, MAX_NODES
from plait.dialects.graph.definition.preparation import Preparation as GraphPreparation
from plait.dialects.graph.definition.read import read as read_graph
from plait.dialects.refs.definition.compile import compile_refs
from plait.dialects.refs.definition.draft import read as read_refs
from plait.dialects.refs.definition.limits import MAX_RECORDED_STEPS
from plait.dialects.refs.preparation import Preparation as RefsPreparation
from plait.dialects.refs.running.plans import Plans
from plait.kernel.errors import PlaitError

MANY = 3_000
NOBODY = {f"nobody{number}": 1 for number in range(MANY)}
NAMES = [*NOBODY]
STEP = {"name": "a", "action": {"toolName": "say"}}


def node(**more: Any) -> dict[str, Any]:
    return {"nodes": [{"id": "a", "type": "wait", **more}], "edges": []}


def refs_step(**more: Any) -> dict[str, Any]:
    return {"steps": [{**STEP, **more}]}


def composite(*parts: Any) -> dict[str, Any]:
    return {"type": "composite", "operator": "and", "conditions": list(parts)}


@pytest.mark.parametrize(
    ("read", "definition"),
    [
        (compile_graph, {"nodes": [{}] * MANY}),
        (compile_graph, {"nodes": [{"id": "a", "type": "wait"}], "edges": [{}] * MANY}),
        (compile_graph, {"nodes": [1] * MANY}),
        (compile_graph, node(**NOBODY)),
        (compile_graph, node(dependencies=NAMES)),
        (compile_graph, node(dependencies=[1] * MANY)),
        (compile_graph, node(capabilities={"can_emit_to": NAMES})),
        (compile_refs, {"steps": [{}] * MANY}),
        (compile_refs, {"steps": [1] * MANY}),
        (compile_refs, refs_step(**NOBODY)),
        (compile_refs, refs_step(dependsOn=NAMES)),
        (compile_refs, refs_step(action={**STEP["action"], **NOBODY})),
        (compile_refs, refs_step(when={"ref": "@input.a", **NOBODY})),
        (compile_refs, refs_step(input={"all": [f"@{name}.x" for name in NAMES]})),
        (compile_refs, {**refs_step(), "presets": NOBODY}),
        (read_step, {"id": "a", "name": "a", "type": "sync", "attributes": {name: {} for name in NAMES}}),
        (read_step, {"id": "a", "name": "a", "type": "sync", **NOBODY}),
        (conditions.compile, composite(*[{}] * MANY)),
        (conditions.compile, composite(*[f"{name} > 1" for name in NAMES])),
        (conditions.compile, {"type": "when", **NOBODY}),
    ],
)
def test_flaws_beyond_those_that_anybody_reads_are_not_looked_for(read: Callable[[Any], Any], definition: Any):
    with pytest.raises(PlaitError) as refused:
        read(definition)
    assert 1 <= len(refused.value.flaws) <= MOST + 1


def test_a_text_that_leaves_flaws_out_says_so():
    with pytest.raises(PlaitError) as refused:
        compile_refs({"steps": [{}] * MANY})
    assert "name is required (and at least" in str(refused.value)


def test_what_is_beyond_the_limits_is_counted_and_not_read():
    graph = read_graph({"nodes": [{"id": "a", "type": "wait"}] * MANY, "edges": [{"from": "a", "to": "b"}] * 6_000})
    assert (len(graph.nodes), graph.written_nodes) == (MAX_NODES, MANY)
    assert (len(graph.edges), graph.written_edges) == (MAX_EDGES, 6_000)
    refs = read_refs({"steps": [STEP] * MANY})
    assert (len(refs.steps), refs.written_steps) == (MAX_RECORDED_STEPS, MANY)


@pytest.mark.parametrize(
    ("preparation", "definition"),
    [
        (GraphPreparation(), {"nodes": [{"id": "a", "type": "wait", "config": {"text": "x" * 70_000}}]}),
        (RefsPreparation(Plans(), None, None), refs_step(input={"text": "x" * 70_000})),
    ],
)
async def test_a_long_definition_is_compiled_beside_the_loop(preparation: Any, definition: dict[str, Any]):
    preparing = asyncio.ensure_future(preparation.prepare(definition, "default"))
    await asyncio.sleep(0)
    assert not preparing.done()
    await asyncio.wait([preparing])
