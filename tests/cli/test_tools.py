"""`plait tools`: what pipelines of agents were promoted to."""

import asyncio

from plait import Engine
from plait.agents.promotion.promotions import Promotions
from tests.cli.support import Desk, both_ways


@both_ways
def test_promoted_tools_are_listed_and_removed_for_good(desk: Desk):
    desk.run("hello", "--input", '"Ada"')
    assert "no pipeline was promoted yet" in desk.plait("tools").out
    name = asyncio.run(_promoted(desk))
    assert name in desk.plait("tools").out
    assert [tool["name"] for tool in desk.plait("tools", "list", "--json").json] == [name]
    assert desk.plait("tools", "--namespace", "acme", "--json").json == []
    assert f"{name} was removed" in desk.plait("tools", "remove", name).out
    assert desk.plait("tools", "remove", name, "--json").problem["code"] == "agent.no_tool"


async def _promoted(desk: Desk) -> str:
    async with Engine(f"sqlite:///{desk.folder}/plait.db", work=False) as engine:
        promotions = Promotions(engine.records, engine.kernel.clock)
        made = await promotions.used("default", [{"step": "top_k", "k": 1}], "1", enough=1)
        assert made is not None
        return made.name
