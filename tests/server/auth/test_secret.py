"""The signing secret: given from outside, or made once for all processes."""

import asyncio

import pytest

from plait import Engine
from plait.errors import InvalidInput
from plait.kernel.ids import Millis
from plait.server.auth.secret import signing_secret

from .conftest import OpenEngine

NOW = Millis(1_800_000_000_000)


async def test_the_secret_is_made_once_and_found_by_every_process(engine: OpenEngine):
    async with engine() as one:
        made = await signing_secret(one.records, NOW)
    async with engine() as other:
        assert await signing_secret(other.records, NOW) == made
    assert len(made) >= 32


async def test_processes_that_start_at_once_agree_on_sqlite(engine: OpenEngine):
    async with engine() as one, engine() as two, engine() as three:
        found = await asyncio.gather(*(signing_secret(each.records, NOW) for each in (one, two, three) * 3))
    assert len(set(found)) == 1


async def test_processes_that_start_at_once_agree_on_postgresql(postgres_url: str):
    async with Engine(postgres_url, work=False) as one, Engine(postgres_url, work=False) as two:
        found = await asyncio.gather(*(signing_secret(each.records, NOW) for each in (one, two) * 4))
    assert len(set(found)) == 1


async def test_a_given_secret_counts_and_is_not_stored(engine: OpenEngine):
    async with engine() as opened:
        found = await signing_secret(opened.records, NOW, "a" * 32)
        assert found == await signing_secret(opened.records, NOW, "a" * 32)
        assert found != await signing_secret(opened.records, NOW, "b" * 32)
        assert await opened.records.list("auth.secret") == []


async def test_a_short_secret_is_refused(engine: OpenEngine):
    async with engine() as opened:
        with pytest.raises(InvalidInput) as refused:
            await signing_secret(opened.records, NOW, "hunter2")
    assert refused.value.code == "auth.weak_secret"
    assert "hunter2" not in str(refused.value)
