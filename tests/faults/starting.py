"""Starting runs on a database that may be away for a moment."""

import asyncio
from typing import Any

from plait import Engine, Handle
from plait.errors import Unavailable


async def start_surely(engine: Engine, definition: Any, number: int, id: str) -> Handle[int]:
    """Asks until it is acknowledged. What was not may be there or not; the same start again is the same run."""
    while True:
        try:
            return await engine.start(definition, number, id=id)
        except Unavailable:
            await asyncio.sleep(0.02)
