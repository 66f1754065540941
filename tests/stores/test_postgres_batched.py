"""Reads that come together are one query, and each gets its own answer."""

import asyncio
from collections.abc import Sequence

import pytest

from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId
from plait.stores.postgres.batched import Batched
from tests.contract.stores.builders import create, log_row, must, own_all
from tests.stores.looking_in import opened_at


class Reader:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.away = False

    async def read(self, keys: Sequence[str]) -> dict[str, str]:
        self.asked.append(list(keys))
        if self.away:
            raise Unavailable("store.away", "the store is away")
        return {key: key.upper() for key in keys if key != "nothing"}


async def test_reads_that_come_together_are_one_query():
    reader = Reader()
    batched = Batched(reader.read)
    assert await asyncio.gather(*map(batched.get, ["a", "b", "nothing", "a"])) == ["A", "B", None, "A"]
    assert await batched.get("c") == "C"
    assert reader.asked == [["a", "b", "nothing"], ["c"]]


async def test_a_query_has_a_bounded_number_of_keys():
    reader = Reader()
    batched = Batched(reader.read)
    keys = [f"key-{number}" for number in range(100)]
    assert await asyncio.gather(*map(batched.get, keys)) == [key.upper() for key in keys]
    assert max(map(len, reader.asked)) == 32


async def test_an_outage_is_told_to_everyone_and_the_next_read_is_another():
    reader = Reader()
    batched = Batched(reader.read)
    reader.away = True
    found = await asyncio.gather(*map(batched.get, "ab"), return_exceptions=True)
    assert [type(each) for each in found] == [Unavailable, Unavailable]
    reader.away = False
    assert await batched.get("a") == "A"


async def test_a_reader_that_gives_up_takes_nothing_from_another():
    reader = Reader()
    batched = Batched(reader.read)
    one, two = asyncio.create_task(batched.get("a")), asyncio.create_task(batched.get("a"))
    await asyncio.sleep(0)
    one.cancel()
    assert await two == "A"
    with pytest.raises(asyncio.CancelledError):
        await one


async def test_logs_that_are_read_together_are_each_runs_own(postgres_url: str):
    async with opened_at(postgres_url) as store:
        owner = await own_all(store)
        await create(store, "a", "b", "empty")
        for run, seqs in (("b", (1, 2)), ("a", (1, 2, 3))):
            for seq in seqs:
                await must(store, owner.write(run, log=log_row(seq)))
        logs = await asyncio.gather(*(store.log(RunId(run)) for run in ("a", "b", "empty", "nobody")))
        assert [[row.seq for row in log] for log in logs] == [[1, 2, 3], [1, 2], [], []]
