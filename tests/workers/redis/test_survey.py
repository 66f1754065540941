"""What an engine sees of a stream, and what it tidies there."""

from typing import Any

import pytest
from redis import asyncio as client

from plait.workers.redis import link as link_module
from plait.workers.redis.link import Link
from plait.workers.redis.settings import settings_of

STREAM, GROUP = "wf.tasks.math", "workers"


async def test_workers_that_are_gone_do_not_stay_in_a_stream_for_good(redis_url: str, monkeypatch: pytest.MonkeyPatch):
    db: Any = client.from_url(redis_url, decode_responses=True, protocol=2)
    link = Link(settings_of(redis_url))

    async def names() -> set[str]:
        return {each["name"] for each in await db.xinfo_consumers(STREAM, GROUP)}

    try:
        await db.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        await db.xadd(STREAM, {"token": "{}"})
        for name in ("has a task", "gone", "gone, too", "newest"):
            await db.xreadgroup(GROUP, name, {STREAM: ">"})
        assert len((await link.survey(STREAM)).consumers) == 4
        assert len(await names()) == 4
        monkeypatch.setattr(link_module, "CONSUMER_KEPT", -1)
        assert len((await link.survey(STREAM)).consumers) == 2
        left = await names()
        assert "has a task" in left
        assert len(left) == 2
    finally:
        await link.close()
        await db.aclose()
