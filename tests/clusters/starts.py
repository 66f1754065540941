"""What the gated step of these tests noted each time it began: its process, and its idempotency key."""

from pathlib import Path

from tests.engine.places import soon


async def started(folder: Path, times: int = 1) -> list[list[str]]:
    """When it has begun that often."""

    async def lines() -> list[list[str]]:
        file = folder / "started"
        found = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        return found if len(found) >= times else []

    return await soon(lines)
