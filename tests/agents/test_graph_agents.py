"""Agent nodes of graphs on an engine: what a scripted model says, and what the log tells of it."""

from typing import Any

import pytest

from plait import Engine
from plait.agents import tool
from plait.dialects.graph.graph import graph
from plait.kernel.errors import PlaitError, RunFailed
from plait.testing import ScriptedModel

ROWS = [{"airline": "A", "price": 310}, {"airline": "B", "price": 299}, {"airline": "C", "price": 340}]
CHEAPEST = {
    "tool": "execute_pipeline",
    "args": {"pipeline": [{"step": "table_sort", "field": "price"}, {"step": "top_k", "k": 1}]},
}


def agent(**settings: Any) -> dict[str, Any]:
    node = {"id": "qualify", "type": "agent", "config": {"prompt": "Qualify this lead"}, "agent_config": {"model": "m"}}
    more = {
        key: settings.pop(key) for key in ("config", "branch", "retry", "capabilities", "limits") if key in settings
    }
    node["agent_config"] = {"model": "m", **settings}
    return {**node, **more}


def lead(**settings: Any) -> dict[str, Any]:
    """A → Agent → high_value_sales, send_gift: the seed's example of dynamic routing."""
    branch = {"type": "agent_driven", "available_next_nodes": ["high_value_sales", "send_gift"], "default": []}
    return {
        "nodes": [
            {"id": "A", "type": "transform", "config": {"output": "$payload"}},
            agent(branch=branch, retry={"max_attempts": 2, "backoff_ms": 1}, **settings),
            {"id": "high_value_sales", "type": "transform", "config": {"output": "sold"}},
            {"id": "send_gift", "type": "transform", "config": {"output": "sent"}},
        ],
        "edges": [{"from": "A", "to": "qualify"}],
    }


def alone(**settings: Any) -> dict[str, Any]:
    return {"nodes": [agent(**settings)]}


async def run(
    definition: dict[str, Any], script: Any, input: Any = None, **options: Any
) -> tuple[Any, list[tuple[str, dict[str, Any]]], ScriptedModel]:
    model = script if isinstance(script, ScriptedModel) else ScriptedModel({"qualify": script})
    async with Engine("memory:", models={"m": model}, **options) as engine:
        handle = await engine.start(graph(definition), input)
        try:
            output: Any = await handle.result()
        except RunFailed as failed:
            output = failed
        return output, [(event.type, event.data) for event in await handle.events()], model


def of(events: list[tuple[str, dict[str, Any]]], *types: str) -> list[dict[str, Any]]:
    return [data for type, data in events if type in types]


async def test_the_seeds_example_of_dynamic_routing_event_by_event():
    turn = {"output": {"score": 90}, "next_nodes": ["high_value_sales", "send_gift"], "reasoning": "large"}
    output, events, _ = await run(lead(), [turn], {"company": "x"})
    assert output == {"high_value_sales": "sold", "send_gift": "sent"}
    assert [type for type, _ in events] == [
        "run.started",
        "node.consumed",
        "node.emitted",
        "task.journaled",
        "task.journaled",
        "task.journaled",
        "agent.finished",
        "node.consumed",
        "agent.decided",
        "branch.taken",
        "node.emitted",
        "node.consumed",
        "node.consumed",
        "run.completed",
    ]
    counters = [(data["counter_before"], data["counter_after"]) for data in of(events, "node.consumed", "node.emitted")]
    assert counters == [(1, 0), (0, 1), (1, 0), (0, 2), (2, 1), (1, 0)]
    [decided] = of(events, "agent.decided")
    assert decided == {
        "node_id": "qualify",
        "next_nodes": ["high_value_sales", "send_gift"],
        "reasoning": "large",
    }
    [finished] = of(events, "agent.finished")
    assert (finished["status"], finished["model"], finished["turns"], finished["attempt"]) == ("completed", "m", 1, 1)
    assert finished.get("cost_usd") is None


async def test_a_pipeline_computes_and_its_reference_is_the_output():
    def script(request: Any) -> Any:
        if request.messages[-1].role == "user":
            return CHEAPEST
        ref = request.messages[-1].content.split('"result_ref":"')[1].split('"')[0]
        return {"output": {"result_ref": ref}}

    output, events, model = await run(alone(), ScriptedModel(script), ROWS)
    assert output == {"qualify": [ROWS[1]]}
    assert "row_count" in model.requests[1].messages[-1].content
    [finished] = of(events, "agent.finished")
    assert (finished["turns"], finished["tool_calls"], finished["cache_hit"]) == (2, 1, True)


async def test_plain_text_is_an_answer_where_no_schema_is_wanted():
    output, _, _ = await run(alone(), [{"text": "all is well"}])
    assert output == {"qualify": {"text": "all is well"}}


async def test_a_route_that_is_not_allowed_is_refused_whole_and_tried_again_with_feedback():
    script = [
        {"output": 1, "next_nodes": ["send_gift", "nowhere"]},
        {"output": 2, "next_nodes": ["send_gift"]},
    ]
    output, events, model = await run(lead(), script)
    assert output == {"send_gift": "sent"}
    [denied] = of(events, "agent.route_denied")
    assert (denied["requested"], denied["denied"]) == (["send_gift", "nowhere"], ["nowhere"])
    assert denied["allowed"] == ["high_value_sales", "send_gift"]
    assert "may not go on to `nowhere`" in model.requests[1].messages[-1].content


async def test_a_route_that_stays_forbidden_is_a_dead_letter():
    output, events, _ = await run(lead(), ScriptedModel({"qualify": [{"output": 1, "next_nodes": ["x"]}]}, True))
    assert isinstance(output, RunFailed)
    assert len(of(events, "agent.route_denied")) == 2
    [failed] = of(events, "node.failed")
    assert failed["error"]["code"] == "graph.route_denied"
    assert of(events, "node.emitted") == of(events, "node.emitted")[:1], "only A emitted"


async def test_an_answer_that_misfits_goes_back_at_most_twice():
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
    config = {"prompt": "Score", "output_schema": schema}
    output, _, model = await run(
        alone(config=config), [{"text": "eighty"}, {"output": {"score": "80"}}, {"output": {"score": 80}}]
    )
    assert output == {"qualify": {"score": 80}}
    assert "/output/score" in model.requests[2].messages[-1].content
    output, events, _ = await run(
        alone(config=config, retry={"max_attempts": 1}), ScriptedModel({"qualify": [{"text": "eighty"}]}, True)
    )
    assert isinstance(output, RunFailed)
    assert of(events, "agent.finished")[0]["error"]["code"] == "agent.bad_answer"


async def test_a_tool_that_is_not_allowed_is_denied_and_the_model_goes_on():
    script = [{"tool": "openapi_action", "args": {"openapi_url": "x", "operation_id": "y"}}, {"output": "ok"}]
    output, events, model = await run(alone(), script)
    assert output == {"qualify": "ok"}
    [denied] = of(events, "agent.tool_denied")
    assert denied["tool"] == "openapi_action"
    assert "not allowed" in model.requests[1].messages[-1].content


async def test_a_registered_tool_gets_its_key_and_is_offered_only_where_it_is_named():
    keys: list[str] = []

    @tool
    def lookup_rate(currency: str, key: str) -> float:
        """Today's rate."""
        keys.append(key)
        return 1.1

    script = [{"tool": "lookup_rate", "args": {"currency": "USD"}}, {"output": "ok"}]
    _, events, model = await run(alone(available_tools=["lookup_rate"]), script, definitions=[lookup_rate])
    [consumed] = of(events, "node.consumed")
    assert keys == [f"{consumed['execution_id']}/1/0"]
    assert [each.name for each in model.requests[0].tools][-1] == "lookup_rate"
    _, events, _ = await run(
        alone(available_tools=["lookup_rate"], capabilities={"allowed_tools": []}), script, definitions=[lookup_rate]
    )
    assert [each["tool"] for each in of(events, "agent.tool_denied")] == ["lookup_rate"]


async def test_a_model_that_never_answers_ends_after_its_turns():
    output, events, _ = await run(alone(max_turns=3), ScriptedModel({"qualify": [CHEAPEST]}, True), ROWS)
    assert isinstance(output, RunFailed)
    [finished] = of(events, "agent.finished")
    assert (finished["error"]["code"], finished["turns"]) == ("agent.max_turns", 3)


async def test_an_unknown_model_is_refused_when_the_run_is_started():
    async with Engine("memory:", models={"m": ScriptedModel({})}) as engine:
        with pytest.raises(PlaitError) as refused:
            await engine.start(graph({"nodes": [{"id": "a", "type": "agent", "agent_config": {"model": "big"}}]}))
    assert refused.value.flaws[0].code == "graph.unknown_model"


async def test_an_agent_that_is_taken_up_as_a_dead_letter_is_asked_anew_and_has_a_record_of_its_own():
    keys: list[str] = []

    @tool
    def charge(cents: int, key: str) -> str:
        """Charges."""
        keys.append(key)
        return "charged"

    def charges(cents: int) -> Any:
        return {"tool": "charge", "args": {"cents": cents}}

    model = ScriptedModel(
        {"qualify": [charges(5), charges(7), {"error": "auth"}, charges(5), charges(8), {"output": "paid"}]}
    )
    async with Engine("memory:", models={"m": model}, definitions=[charge]) as engine:
        handle = await engine.start(graph(alone(available_tools=["charge"], retry={"max_attempts": 1})))
        with pytest.raises(RunFailed):
            await handle.result()
        [letter] = await engine.dlq.list(run_id=handle.id)
        await engine.dlq.retry(letter.id)
        assert await handle.result() == {"qualify": "paid"}
        records = (await handle.agents()).agents
    assert len({record.job_id for record in records}) == len(records) == 2
    assert keys[2] == keys[0], "it is the same call"
    assert keys[3].startswith(f"{keys[1]}/"), "another call at the same place"
