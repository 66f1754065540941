"""An engine in a process of its own: says when it is ready, and lives until its stdin is closed."""

import asyncio
import importlib
import sys

from plait import Engine


async def work(db: str, module: str) -> None:
    async with Engine(db, definitions=[importlib.import_module(module)]):
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    sys.path.insert(0, "")
    asyncio.run(work(sys.argv[1], sys.argv[2]))
