"""Logs without an owner: who is first gets the number, what is appended together is read together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from plait.kernel.errors import PlaitError, Unavailable
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.records import Records
from plait.kernel.streams import Entry, Follower, Stream, namespaces_of
from plait.testing import VirtualClock
from tests.contract.stores.backends import Backend, Memory, PostgreSQL, Sqlite
from tests.kernel.filing import records_of
from tests.kernel.rig import Outage


class Said(Event, frozen=True, tag="said"):
    word: str


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Every store there is."""
    match request.param:
        case "memory":
            yield Memory()
        case "sqlite":
            yield Sqlite(tmp_path / "plait.db")
        case _:
            yield PostgreSQL(request.getfixturevalue("postgres_url"))


def stream(records: Records, namespace: str = "default", kind: str = "words") -> Stream:
    return Stream(records, kind, namespace, VirtualClock())


def said(*words: str) -> list[Said]:
    return [Said(word) for word in words]


def words(entries: list[Entry]) -> list[tuple[int, str]]:
    return [(entry.seq, msgspec.json.decode(entry.event, type=Said).word) for entry in entries]


async def test_events_are_numbered_from_one_and_read_in_order(backend: Backend) -> None:
    async with records_of(backend) as records:
        writer = stream(records)
        assert await writer.append(1, said("a", "b"))
        assert await writer.append(3, said("c"))
        assert words(await writer.read()) == [(1, "a"), (2, "b"), (3, "c")]
        assert words(await stream(records).read()) == [(1, "a"), (2, "b"), (3, "c")]


async def test_of_two_writers_who_want_one_number_the_second_is_refused_and_leaves_nothing(backend: Backend) -> None:
    async with records_of(backend) as records:
        first, second = stream(records), stream(records)
        assert sorted(await asyncio.gather(first.append(1, said("a", "b")), second.append(1, said("x", "y", "z")))) == [
            *(False, True)
        ]
        assert len({word for _, word in words(await first.read())} & set("ax")) == 1
        end = len(await second.read())
        assert end in (2, 3)
        assert await second.append(end + 1, said("next"))
        assert not await first.append(end + 1, said("late"))
        assert words(await first.read())[-1] == (end + 1, "next")


async def test_ten_writers_lose_nothing_and_overwrite_nothing(backend: Backend) -> None:
    async with records_of(backend) as records:

        async def insist(word: str) -> None:
            mine = stream(records)
            while not await mine.append(len(await mine.read()) + 1, said(word, word)):
                pass

        await asyncio.gather(*(insist(word) for word in "abcdefghij"))
        found = words(await stream(records).read())
        assert [seq for seq, _ in found] == list(range(1, 21))
        pairs = [(found[at][1], found[at + 1][1]) for at in range(0, 20, 2)]
        assert sorted(pairs) == [(word, word) for word in "abcdefghij"]


@pytest.mark.parametrize("wrong", [1, 2, 3, 5, 99])
async def test_a_number_inside_an_append_or_past_the_end_is_refused(backend: Backend, wrong: int) -> None:
    async with records_of(backend) as records:
        await stream(records).append(1, said("a", "b", "c"))
        assert not await stream(records).append(wrong, said("x"))
        assert words(await stream(records).read()) == [(1, "a"), (2, "b"), (3, "c")]


async def test_reading_goes_on_from_any_number_even_inside_an_append(backend: Backend) -> None:
    async with records_of(backend) as records:
        writer = stream(records)
        await writer.append(1, said("a", "b", "c"))
        await writer.append(4, said("d", "e"))
        whole = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")]
        for after in range(7):
            assert words(await writer.read(after)) == whole[after:]
            assert words(await stream(records).read(after)) == whole[after:]
            for limit in range(7):
                assert words(await stream(records).read(after, limit)) == whole[after:][:limit]


async def test_many_appends_are_read_over_several_pages() -> None:
    async with records_of(Memory()) as records:
        writer = stream(records)
        for number in range(1, 452):
            assert await writer.append(number, said(str(number)))
        assert words(await stream(records).read()) == [(number, str(number)) for number in range(1, 452)]
        assert [seq for seq, _ in words(await stream(records).read(199, 203))] == list(range(200, 403))


async def test_streams_of_other_kinds_and_namespaces_are_apart_and_each_namespace_is_listed(backend: Backend) -> None:
    async with records_of(backend) as records:
        for kind, namespace in (("words", "default"), ("words", "acme"), ("other", "zoo")):
            assert await stream(records, namespace, kind).append(1, said(f"{kind} of {namespace}"))
        assert words(await stream(records, "acme").read()) == [(1, "words of acme")]
        assert words(await stream(records, "zoo").read()) == []
        assert await namespaces_of(records, "words") == ["acme", "default"]
        assert await namespaces_of(records, "none") == []


async def test_more_namespaces_than_a_page_are_listed() -> None:
    async with records_of(Memory()) as records:
        names = [f"ns-{number:03}" for number in range(401)]
        for name in names:
            await stream(records, name).append(1, said("a"))
        assert await namespaces_of(records, "words") == names


async def test_an_append_of_nothing_writes_nothing() -> None:
    async with records_of(Memory()) as records:
        assert await stream(records).append(1, [])
        assert await namespaces_of(records, "words") == []


async def test_an_append_over_the_limit_is_refused() -> None:
    async with records_of(Memory()) as records:
        with pytest.raises(PlaitError) as caught:
            await stream(records).append(1, said("x" * (16 * 1024 * 1024)))
        assert caught.value.code == "kernel.append_too_large"
        assert await stream(records).read() == []


async def test_an_entry_says_when_and_what() -> None:
    clock = VirtualClock()
    async with records_of(Memory(), clock) as records:
        mine = Stream(records, "words", "default", clock)
        await mine.append(1, said("a"))
        [entry] = await mine.read()
        assert entry.recorded == msgspec.structs.replace(entry.recorded, seq=1, at=clock.now(), type="said")
        assert entry.recorded.data == {"word": "a"}


# -- followers -------------------------------------------------------------------------------------------------------


class Heard:
    """Folds what is said, and remembers how often it had to."""

    def __init__(self, records: Records) -> None:
        self.words: list[str] = []
        self.at: list[Millis] = []
        self.follower = Follower(stream(records), msgspec.json.Decoder(Said), self.fold)

    def fold(self, event: Said, at: Millis) -> None:
        self.words.append(event.word)
        self.at.append(at)


async def test_two_followers_see_what_the_other_appends_and_fold_each_event_once(backend: Backend) -> None:
    async with records_of(backend) as records:
        one, two = Heard(records), Heard(records)
        assert await one.follower.append(said("a", "b"))
        assert not await two.follower.append(said("x"))
        assert await two.follower.refresh() == said("a", "b")
        assert await two.follower.append(said("c"))
        assert await one.follower.refresh() == said("c")
        assert await one.follower.refresh() == []
        assert one.words == two.words == ["a", "b", "c"]
        assert one.follower.sequence == two.follower.sequence == 3
        assert one.at == two.at


async def test_a_follower_that_appends_and_reads_at_once_folds_nothing_twice(backend: Backend) -> None:
    async with records_of(backend) as records:
        heard, other = Heard(records), Heard(records)
        for word in "abcde":
            await other.follower.refresh()
            assert await other.follower.append(said(word))
            results = await asyncio.gather(
                heard.follower.refresh(), heard.follower.append(said("?")), heard.follower.refresh()
            )
            await heard.follower.refresh()
            await other.follower.refresh()
            assert isinstance(results[1], bool)
            assert heard.words == other.words


async def test_an_event_of_another_release_is_named_and_nothing_past_it_is_folded() -> None:
    class Shouted(Event, frozen=True, tag="shouted"):
        word: str

    async with records_of(Memory()) as records:
        heard = Heard(records)
        await stream(records).append(1, [*said("a"), Shouted("B"), *said("c")])
        for _ in range(2):
            with pytest.raises(PlaitError) as caught:
                await heard.follower.refresh()
            assert caught.value.code == "kernel.unreadable_event"
            assert "event 2 of words/default" in caught.value.what
        assert heard.words == ["a"]


async def test_an_append_whose_answer_was_lost_is_found_by_the_next_refresh() -> None:
    outage = Outage("after")
    backend = Memory()
    async with records_of(backend) as records:
        await stream(records).append(1, said("a"))
        heard = Heard(records)
        await heard.follower.refresh()
        backend.only.faults = outage
        with pytest.raises(Unavailable):
            await heard.follower.append(said("b"))
        assert not await heard.follower.append(said("b"))
        assert await heard.follower.refresh() == said("b")
        assert heard.words == ["a", "b"]
