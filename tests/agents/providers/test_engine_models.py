"""The models that an operator configured reach the engine, beside those of the program."""

import json
from pathlib import Path

import pytest

from plait import Engine
from plait.dialects.graph.graph import graph
from plait.testing import ScriptedModel

from .wire_server import Said, serving


async def test_a_model_of_the_environment_works_in_an_engine_with_its_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with serving("openai") as wire:
        wire.answers = [Said("fine", input=1_000_000, output=0)]
        fast = {"provider": "openai", "model": "wire-1", "url": wire.base, "price": {"input": 2, "output": 5}}
        file = tmp_path / "models.json"
        file.write_text(json.dumps({"models": {"fast": fast, "own": fast}}))
        monkeypatch.setenv("PLAIT_MODELS", str(file))
        own = ScriptedModel({"b": [{"output": "scripted"}]})
        nodes = [
            {"id": id, "type": "agent", "agent_config": {"model": model}} for id, model in (("a", "fast"), ("b", "own"))
        ]
        async with Engine("memory:", models={"own": own}) as engine:
            run = await engine.start(graph({"nodes": nodes}))
            assert await run.result() == {"a": {"text": "fine"}, "b": "scripted"}, (
                "the program's count where both name one"
            )
            costs = {record.node_id: record.cost_usd for record in (await run.agents()).agents}
    assert costs["a"] == 2.0
