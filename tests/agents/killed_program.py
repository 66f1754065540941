"""A program with an agent, which says each call on its standard output before it is made: `python -m … DATABASE`."""

import asyncio
import sys

from plait import Context, Engine, workflow
from plait.agents import tool
from plait.agents.model import ModelReply, ModelRequest
from plait.agents.turn_key import TurnKey
from plait.testing import ScriptedModel

SCRIPT = {
    "pay": [
        [{"tool": "charge", "args": {"cents": 5}}, {"tool": "charge", "args": {"cents": 7}}],
        {"tool": "charge", "args": {"cents": 9}},
        {"output": {"paid": 21}},
    ]
}


def say(text: str) -> None:
    print(text, flush=True)


@tool
async def charge(cents: int, key: str) -> str:
    """Charges."""
    say(f"call tool {key.partition(':')[2]}")
    await asyncio.sleep(0)
    return f"charged {cents}"


class Model:
    """A script that knows its place by the key alone: it is made anew with each process."""

    def __init__(self) -> None:
        self._inner = ScriptedModel(SCRIPT)

    async def complete(self, request: ModelRequest) -> ModelReply:
        key = TurnKey.read(request.key)
        assert key is not None
        say(f"call turn {key.turn}")
        return await self._inner.complete(request)


@workflow
async def shop(ctx: Context) -> dict[str, int]:
    return await ctx.agent("pay", "Charge all", model="m", tools=["charge"])


async def main(url: str) -> None:
    models = {"m": Model()}
    async with Engine(url, definitions=[shop, charge], models=models, work=False) as looking:
        await looking.start(shop, id="run")
        for record in (await (await looking.get("run")).agents()).agents:
            for turn in record.turns:
                say(f"known turn {turn.turn}")
                for call in turn.tool_calls:
                    if call.status == "completed":
                        say(f"known tool pay:0/{turn.turn}/{call.index}")
    async with Engine(url, definitions=[shop, charge], models=models, lease_ttl=0.5) as engine:
        output = await (await engine.get("run")).result()
        say(f"output {output['paid']}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
