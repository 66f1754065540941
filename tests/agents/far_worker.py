"""A worker that carries an agent over HTTP and says each call before it is made: `python -m … SERVER CALLS`. In the
last of so many calls it hangs, to be killed there."""

import asyncio
import sys
from typing import Any

from plait.agents import tool
from plait.agents.model import ModelReply, ModelRequest
from plait.agents.tools.function_tool import FunctionTool
from plait.agents.turn_key import TurnKey
from plait.client import Client
from plait.testing import ScriptedModel
from tests.agents.remote import remote_worker

SCRIPT: dict[str, list[Any]] = {
    "pay": [
        [{"tool": "charge", "args": {"cents": 5}}, {"tool": "charge", "args": {"cents": 7}}],
        {"tool": "charge", "args": {"cents": 9}},
        {"output": {"paid": 21}},
    ]
}


class Ledger:
    """What is done in the world, in order."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    async def note(self, call: str) -> None:
        print("call", call, flush=True)
        self._left -= 1
        if not self._left:
            await asyncio.Event().wait()


class Model:
    """A script that knows its place by the key alone: it is made anew with each process."""

    def __init__(self, ledger: Ledger) -> None:
        self._inner = ScriptedModel(SCRIPT)
        self._ledger = ledger

    async def complete(self, request: ModelRequest) -> ModelReply:
        key = TurnKey.read(request.key)
        assert key is not None
        await self._ledger.note(f"turn {key.turn} of attempt {key.attempt}")
        return await self._inner.complete(request)


def charging(ledger: Ledger) -> FunctionTool:
    @tool
    async def charge(cents: int, key: str) -> str:
        """Charges."""
        await ledger.note(f"tool {key.partition('/')[2]}")
        return f"charged {cents}"

    return charge


async def main(url: str, calls: int) -> None:
    ledger = Ledger(calls)
    async with Client(url) as client:
        await remote_worker(client, {"m": Model(ledger)}, [charging(ledger)], lease=3.0).run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
