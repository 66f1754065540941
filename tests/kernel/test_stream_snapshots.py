"""Snapshots of streams: what they hold need not be read, the oldest events go, and no number is ever given twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec import Raw

from plait.kernel import streams
from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.records import Record, Records
from plait.kernel.store import Write
from plait.kernel.streams import Follower, Stream, namespaces_of
from plait.stores.memory import Moment
from plait.testing import VirtualClock
from tests.contract.stores.backends import Backend, Encrypted, Memory, PostgreSQL, Sqlite
from tests.kernel.filing import records_of

EVERY, KEPT = 5, 10


class Said(Event, frozen=True, tag="said"):
    word: str


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after years, with few events."""
    monkeypatch.setattr(streams, "_KEPT", KEPT)


@pytest.fixture(params=["memory", "sqlite", "postgres", "encrypted"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    match request.param:
        case "memory":
            yield Memory()
        case "sqlite":
            yield Sqlite(tmp_path / "plait.db")
        case "encrypted":
            yield Encrypted(Sqlite(tmp_path / "plait.db"))
        case _:
            yield PostgreSQL(request.getfixturevalue("ready_postgres_url"))


class Heard:
    """One process: folds what is said, and keeps snapshots of it."""

    def __init__(self, records: Records) -> None:
        self.words: list[str] = []
        self.restored = 0
        self.stream = Stream(records, "words", "default", VirtualClock())
        self.follower = Follower(self.stream, msgspec.json.Decoder(Said), self._fold, restore=self._restore)

    async def say(self, *words: str) -> None:
        """Insists, as all writers do."""
        while True:
            await self.follower.refresh()
            if await self.follower.append([Said(word) for word in words]):
                return await self.keep()

    async def keep(self) -> None:
        await self.follower.keep(lambda: Raw(msgspec.json.encode(self.words)), EVERY)

    def _fold(self, event: Said, at: Millis) -> None:
        self.words.append(event.word)

    def _restore(self, snapshot: Raw) -> None:
        self.words[:] = msgspec.json.decode(snapshot, type=list[str])
        self.restored += 1


def numbers(count: int, first: int = 0) -> list[str]:
    return [str(number) for number in range(first, first + count)]


async def say_each(heard: Heard, words: Sequence[str]) -> None:
    for word in words:
        await heard.say(word)


async def test_a_new_process_reads_a_snapshot_and_what_came_after_it(backend: Backend) -> None:
    async with records_of(backend) as records:
        await say_each(Heard(records), numbers(43))
        later = Heard(records)
        assert await later.follower.refresh() == [Said("40"), Said("41"), Said("42")]
        assert (later.words, later.follower.sequence, later.restored) == (numbers(43), 43, 1)
        await later.say("43")
        assert later.words == numbers(44)


async def test_of_the_events_that_a_snapshot_has_the_last_ones_are_kept(backend: Backend) -> None:
    async with records_of(backend) as records:
        heard = Heard(records)
        await say_each(heard, numbers(100))
        left = await heard.stream.read()
        assert [entry.seq for entry in left] == list(range(100 - KEPT + 1, 101))
        assert [entry.seq for entry in await heard.stream.read(95)] == [96, 97, 98, 99, 100]
        assert [entry.seq for entry in await heard.stream.read(3, 2)] == [91, 92]
        assert await namespaces_of(records, "words") == ["default"]


async def test_an_append_goes_as_a_whole_and_the_newest_never() -> None:
    async with records_of(Memory()) as records:
        heard = Heard(records)
        await heard.say(*numbers(7))
        await heard.say(*numbers(7, 7))
        assert len(await heard.stream.read()) == 14  # the last ten begin inside the first append
        await heard.say(*numbers(100, 14))
        assert [entry.seq for entry in await heard.stream.read()] == list(range(15, 115))
        await heard.say(*numbers(100, 114))
        assert [entry.seq for entry in await heard.stream.read()] == list(range(115, 215))
        later = Heard(records)
        await later.follower.refresh()
        assert later.words == numbers(214)


async def test_a_reader_that_was_away_goes_on_with_the_snapshot(backend: Backend) -> None:
    async with records_of(backend) as records:
        heard, away, empty = Heard(records), Heard(records), Heard(records)
        await empty.follower.refresh()
        await say_each(heard, numbers(3))
        await away.follower.refresh()
        await say_each(heard, numbers(60, 3))
        for each in (away, empty):
            await asyncio.gather(each.follower.refresh(), each.follower.refresh(), each.follower.refresh())
            assert (each.words, each.follower.sequence) == (numbers(63), 63)


async def test_a_writer_that_was_away_gets_no_number_that_has_become_free(backend: Backend) -> None:
    async with records_of(backend) as records:
        heard, away, empty = Heard(records), Heard(records), Heard(records)
        await empty.follower.refresh()
        await say_each(heard, numbers(3))
        await away.follower.refresh()
        await say_each(heard, numbers(60, 3))
        assert not await empty.follower.append([Said("x")])
        assert not await away.follower.append([Said("x")])
        assert not await Stream(records, "words", "default", VirtualClock()).append(1, [Said("x")])
        await away.say("63")
        await empty.say("64")
        await heard.follower.refresh()
        assert heard.words == numbers(65)
        assert [entry.seq for entry in await heard.stream.read()] == list(range(56, 66))


async def test_the_first_event_is_appended_where_a_crash_left_the_stream_listed_but_empty(backend: Backend) -> None:
    async with records_of(backend) as records:
        await records.put(Record("words", "default", "default", Raw(b"null"), Millis(VirtualClock().now() + 5)))
        one, two = Heard(records), Heard(records)
        await one.follower.refresh()
        await two.follower.refresh()
        assert await one.follower.append([Said("a")])
        assert not await two.follower.append([Said("b")])


async def test_a_snapshot_never_goes_back(backend: Backend) -> None:
    async with records_of(backend) as records:
        heard, slow = Heard(records), Heard(records)
        await say_each(heard, numbers(4))
        await slow.follower.refresh()
        await say_each(heard, numbers(50, 4))
        slow.follower.sequence = 20  # as it was when it decided to keep one
        await slow.keep()
        later = Heard(records)
        await later.follower.refresh()
        assert later.words == numbers(54)


@pytest.mark.parametrize("body", [None, b"null", b'{"sequence": 50, "index": 7}'])
async def test_without_the_snapshot_a_shortened_stream_is_refused(body: bytes | None) -> None:
    async with records_of(Memory()) as records:
        await say_each(Heard(records), numbers(50))
        await records.remove("words.snapshot", "default", "latest")
        if body is not None:
            await records.put(Record("words.snapshot", "default", "latest", Raw(body), Millis(1)))
        for _ in range(2):
            later = Heard(records)
            with pytest.raises(PlaitError) as caught:
                await later.follower.refresh()
            assert caught.value.code == "kernel.events_lost"
            assert later.words == []


async def test_two_processes_that_write_keep_and_trim_lose_nothing(tmp_path: Path, ready_postgres_url: str) -> None:
    for backend in (Sqlite(tmp_path / "plait.db"), PostgreSQL(ready_postgres_url)):
        async with records_of(backend) as mine, records_of(backend) as theirs:
            heard = [Heard(mine), Heard(mine), Heard(theirs), Heard(theirs)]
            await asyncio.gather(*(say_each(each, numbers(40, 1000 * at)) for at, each in enumerate(heard)))
            for each in heard:
                await each.follower.refresh()
            assert sorted(heard[0].words) == sorted(word for at in range(4) for word in numbers(40, 1000 * at))
            assert all(each.words == heard[0].words for each in heard)
            assert [each.follower.sequence for each in heard] == [160] * 4


class Crash:
    """The process dies at one moment of its nth commit from now."""

    def __init__(self, number: int, moment: Moment) -> None:
        self._left = number
        self._moment = moment

    def __call__(self, moment: Moment, writes: Sequence[Write]) -> None:
        if moment == self._moment:
            self._left -= 1
            if self._left == 0:
                raise Unavailable("store.away", "the process died")


@pytest.mark.parametrize("moment", get_args(Moment))
async def test_a_crash_at_any_commit_loses_nothing_that_was_acknowledged(moment: Moment) -> None:
    backend = Memory()
    async with records_of(backend) as records:
        said: list[str] = []
        for number in range(1, 40):
            heard = Heard(records)
            backend.only.faults = Crash(number % 13 + 1, moment)
            try:
                for word in numbers(15, 100 * number):
                    await heard.say(word)
                    said.append(word)
            except Unavailable:
                pass
            backend.only.faults = None
            later = Heard(records)
            await later.follower.refresh()
            assert later.words[: len(said)] == said
            assert len(later.words) - len(said) <= 1  # of which nobody was told
            said = [*later.words]
        assert len(await Heard(records).stream.read()) < 2 * (KEPT + EVERY + 5)
