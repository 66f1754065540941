"""`transform`: a value computed by a template, an expression or a script."""

from __future__ import annotations

from typing import Any

import pytest

from plait import Engine, graph
from plait.errors import PlaitError, RunFailed
from tests.dialects.graph.drawing import drawn

SCRIPTS = {
    "ale": "{:total (+ (:n payload) (:more input))}",
    "lua": "return {total = payload.n + input.more}",
    "python": "{'total': payload['n'] + input['more']}",
    "javascript": "export default ({payload, input}) => ({total: payload.n + input.more})",
}


def transform(id: str, **config: Any) -> dict[str, Any]:
    return {"id": id, "type": "transform", "config": config}


async def result(*nodes: dict[str, Any], arrows: str = "A > B") -> Any:
    async with Engine("memory:") as engine:
        return await (await engine.start(graph(drawn(arrows, *nodes)), {"n": 1, "more": 4})).result()


@pytest.mark.parametrize("language", SCRIPTS)
async def test_a_script_of_any_language_computes_the_output(language: str) -> None:
    script = {"language": language, "code": SCRIPTS[language]}
    assert await result(transform("A", output={"n": 3}), transform("B", script=script)) == {"B": {"total": 7}}


async def test_a_script_without_a_language_is_ale_and_the_language_may_stand_beside_it() -> None:
    assert await result(transform("A", script="(+ 1 2)"), arrows="A") == {"A": 3}
    assert await result(transform("A", script="return 5", language="lua"), arrows="A") == {"A": 5}


async def test_a_path_picks_from_what_a_script_sees() -> None:
    found = await result(transform("A", script={"language": "jpath", "code": "$.input.more"}), arrows="A")
    assert found in ({"A": 4}, {"A": [4]})


async def test_dollars_in_code_are_no_templates() -> None:
    code = "export default ({payload}) => `${payload.n} is $nodes.nobody`"
    script = {"language": "javascript", "code": code}
    assert await result(transform("A", script=script), arrows="A") == {"A": "1 is $nodes.nobody"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"cel": "1 +"}, "config.cel: it ends early"),
        ({"cel": "nobody.x"}, "unknown name `nobody`"),
        ({"pipeline": [{"step": "top_n", "k": 1}]}, "config.pipeline: step 1: unknown step `top_n`"),
        ({"pipeline": [{"step": "top_k", "k": "1"}]}, "config.pipeline: step 1 (top_k): k must be an integer"),
        ({"script": {"language": "cobol", "code": "x"}}, "config.script.language must be one of ale"),
        ({"script": {"language": "lua"}}, "config.script.code is required"),
        ({"script": "(+ 1"}, "config.script, line 1"),
        ({"script": {"language": "lua", "code": "return ("}}, "config.script"),
        ({"output": 1, "cel": "1"}, "exactly one of output, cel, pipeline, script"),
    ],
)
async def test_what_can_not_be_computed_is_refused_before_it_starts(config: dict[str, Any], message: str) -> None:
    with pytest.raises(PlaitError) as caught:
        await result(transform("A", **config), arrows="A")
    assert caught.value.code == "graph.invalid"
    assert message in str(caught.value)
    assert caught.value.flaws[0].code == "graph.bad_config"
    assert caught.value.flaws[0].pointer.startswith("/nodes/")


async def test_a_pipeline_works_on_the_payload_and_templates_bring_other_tables() -> None:
    orders = [{"sku": "tea", "n": 2}, {"sku": "mug", "n": 1}, {"sku": "tea", "n": 3}]
    steps = [
        {"step": "groupby", "by": "sku", "agg": "sum", "field": "n"},
        {"step": "join", "right": "$nodes.A.prices", "on": "sku"},
        {"step": "jq_transform", "query": "map({sku, total: (.sum_n * .price)})"},
        {"step": "top_k", "k": "$nodes.A.most"},
    ]
    prices = {"prices": [{"sku": "tea", "price": 4}, {"sku": "mug", "price": 9}], "most": 1, "orders": orders}
    found = await result(
        transform("A", output=prices),
        transform("B", output="$nodes.A.orders"),
        transform("C", pipeline=steps),
        arrows="A > B > C",
    )
    assert found == {"C": [{"sku": "tea", "total": 20}]}


async def test_a_pipeline_that_fails_names_its_step() -> None:
    node = {**transform("A", pipeline=[{"step": "table_sort", "field": "a"}]), "retry": {"max_attempts": 1}}
    with pytest.raises(RunFailed, match=r"pipeline failed at step 1 \(table_sort\)"):
        await result(node, arrows="A")


async def test_a_script_that_fails_names_its_node() -> None:
    node = {**transform("A", script={"language": "lua", "code": "return payload.no.thing"}), "retry": {"backoff_ms": 1}}
    with pytest.raises(RunFailed, match="A failed"):
        await result(node, arrows="A")
