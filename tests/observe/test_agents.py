"""What is measured and traced of agents."""

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from plait import Engine, graph
from plait.observe.metrics import Metrics
from plait.observe.spans import Traces
from plait.testing import ScriptedModel

GRAPH: dict[str, Any] = {"name": "lead", "nodes": [{"id": "a", "type": "agent", "agent_config": {"model": "m"}}]}
SCRIPT = {"a": [{"tool": "patch_workflow", "args": {}}, {"output": 1}]}


async def test_tokens_cost_and_tool_calls_are_counted_by_workflow_node_and_model():
    metrics, prices = Metrics(), {"m": {"input": 1.0, "output": 1.0}}
    models = {"m": ScriptedModel(SCRIPT)}
    async with Engine("memory:", models=models, prices=prices, observers=[metrics]) as engine:
        handle = await engine.start(graph(GRAPH), namespace="tea")
        await handle.result()
        text = (await metrics.render(engine)).decode()
        used = (await handle.agents()).agents[0]
    labels = 'model="m",node="a",workflow="lead"'
    assert f'workflow_agent_tokens_total{{kind="input",{labels}}} {float(used.usage.input)}' in text
    assert f"workflow_agent_cache_hits_total{{{labels}}} 1.0" in text
    assert 'workflow_agent_tool_calls_total{status="denied",tool="patch_workflow"} 1.0' in text
    [cost] = [line for line in text.splitlines() if line.startswith("workflow_agent_cost_usd_total{")]
    assert cost.startswith('workflow_agent_cost_usd_total{model="m",namespace="tea",node="a",workflow="lead"}')
    assert float(cost.rpartition(" ")[2]) == pytest.approx(used.cost_usd)


async def test_each_turn_is_a_span_under_that_of_its_attempt():
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = Traces(provider)
    engine = Engine("memory:", models={"m": ScriptedModel(SCRIPT)}, observers=[traces])
    traces.follow(engine)
    async with engine:
        await (await engine.start(graph(GRAPH))).result()
    spans = exporter.get_finished_spans()
    turns = [span for span in spans if span.name == "agent.turn"]
    [work] = [span for span in spans if span.name == "node.execute"]
    assert work.context is not None
    assert [(span.attributes or {})["plait.turn"] for span in turns] == [1, 2]
    assert {span.parent.span_id for span in turns if span.parent} == {work.context.span_id}
    facts = turns[0].attributes or {}
    assert (facts["gen_ai.request.model"], facts["gen_ai.response.model"]) == ("m", "scripted")
    assert isinstance(facts["gen_ai.usage.input_tokens"], int)
