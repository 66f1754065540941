"""A recorded session turned into a workflow: `python session.py`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from plait import Engine

SHOP = str(Path(__file__).with_name("shop.py"))
SERVERS = {name: {"command": sys.executable, "args": [SHOP, name]} for name in ("crm", "orders")}


async def main(folder: str) -> None:
    async with Engine(f"sqlite:///{folder}/plait.db", mcp_servers=SERVERS) as engine:
        recordings = engine.recordings
        run = await recordings.start({"customer": 7}, title="Order tea")

        # What a model would do through the proxy: call tools, and refer to what they gave
        user = await recordings.call(run, "GET_USER", {"id": "@input.customer"}, read_only=True)
        print(user.step, user.output)
        await recordings.call(run, "CREATE_ORDER", {"userId": 42, "items": ["tea"]})
        mail = {"to": "@get_user_1.email", "text": "Order @create_order_1.number is on its way"}
        await recordings.call(run, "SEND_MAIL", mail)
        await recordings.stop(run, {"order": "@create_order_1.number"})

        # It wrote 42, where it might have written a reference
        draft = await recordings.draft(run)
        for found in draft.suggestions:
            if found.kind == "match":
                print(f"{found.step}{found.pointer}: {found.value} could be {found.ref}, {found.confidence} % sure")

        await recordings.save(run, "order-tea", accept="high")
        print(await (await engine.start("order-tea", {"customer": 8})).result())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(folder))
