"""What the log of a run says, once it says it."""

from __future__ import annotations

from typing import Any

from plait import Handle
from plait.testing import history
from tests.server.serving import soon


async def recorded(run: Handle[Any], type: str, count: int = 1) -> list[dict[str, Any]]:
    """The data of the events of one type, once there are that many."""

    async def look() -> list[dict[str, Any]] | None:
        found = (await history(run)).of(type)
        return found if len(found) >= count else None

    return await soon(look)
