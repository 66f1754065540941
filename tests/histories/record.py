"""Records histories with today's Plait: `python -m tests.histories.record NAME…`. One that is stored stays as it is."""

import asyncio
import sys

from plait import Limits
from plait.kernel.ids import run_key
from plait.stores.memory import MemoryStore
from plait.testing import sim

from .flows import DEFINITIONS, World, models
from .recipes import RECIPES
from .stored import LOGS, Stored, save, take


async def play(name: str) -> Stored:
    World.mended = False
    store = MemoryStore()
    # Large values are kept as blobs; here already small ones are, so that the file stays short
    async with sim(DEFINITIONS, store=store, limits=Limits(blob_threshold=1000), models=models()) as s:
        run = await RECIPES[name](s)
        row = await run.row()
        found = await take(name, store, run_key(row.namespace, run.id))
    await store.dispose()
    return found


def main(names: list[str]) -> int:
    for name in names or list(RECIPES):
        if (LOGS / f"{name}.json").exists():
            print(f"{name} is stored already; a history is recorded once and then kept")
        else:
            print(save(asyncio.run(play(name))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
