"""Records histories of goals runs: `python -m tests.histories.goals.record`. Once stored, they stay as they are."""

import asyncio
import sys
from pathlib import Path

from plait.kernel.ids import run_key
from tests.dialects.goals.running.bench import bench
from tests.histories.stored import Stored, save, take

from .recipes import RECIPES

LOGS = Path(__file__).parent / "logs"


async def play(name: str) -> Stored:
    recipe, steps = RECIPES[name]
    async with bench(*steps()) as b:
        run = await recipe(b)
        row = await (await run.handle()).row()
        return await take(name, b.store, run_key(row.namespace, run.id))


def main() -> int:
    for name in RECIPES:
        if (LOGS / f"{name}.json").exists():
            print(f"{name} is stored already; a history is recorded once and then kept")
        else:
            print(save(asyncio.run(play(name)), LOGS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
