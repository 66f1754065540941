"""Live feeds: every event once and in order, whoever owns the run; lists that stay true."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from plait import Context, Engine, workflow
from plait.engine.live_lists import RunChanges
from plait.errors import NotFound, PlaitError
from plait.kernel.events import Recorded
from plait.kernel.store import RunFilter
from tests.engine.flows import echo, listener
from tests.engine.places import OnDisk, Place, soon


async def one() -> int:
    return 1


@workflow
async def many_steps(ctx: Context, count: int) -> int:
    for number in range(count):
        await ctx.step(f"s{number}", one)
    return count


async def followed(feed: AsyncIterator[list[Recorded]]) -> list[Recorded]:
    return [event async for batch in feed for event in batch]


async def test_a_run_is_followed_from_its_first_event_to_its_end(place: Place):
    async with place.engine(many_steps) as engine:
        run = await engine.start(many_steps, 50)
        found = await followed(run.follow())
        assert found == await run.events()
        assert [event.seq for event in found] == list(range(1, len(found) + 1))
        assert found[-1].type == "run.completed"


async def test_who_reconnects_goes_on_after_the_last_event_he_saw(place: Place):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        feed = run.follow()
        seen = await anext(feed)
        await feed.aclose()  # type: ignore[attr-defined]
        await run.message("go", 1)
        rest = await followed(run.follow(after=seen[-1].seq))
        assert seen + rest == await run.events()


async def test_many_watchers_of_many_runs_each_see_everything_once(place: Place):
    async with place.engine(many_steps) as engine:
        runs = [await engine.start(many_steps, 20) for _ in range(10)]
        feeds = await asyncio.gather(*(followed(run.follow()) for run in runs for _ in range(5)))
        for number, run in enumerate(runs):
            for feed in feeds[number * 5 : number * 5 + 5]:
                assert feed == await run.events()


async def test_an_ended_run_is_told_whole_at_once(place: Place):
    async with place.engine(echo) as engine:
        run = await engine.start(echo, 1)
        await run.result()
        assert await followed(run.follow()) == await run.events()
        assert await followed(run.follow(after=10_000)) == []


async def test_a_feed_of_an_engine_that_closes_ends_with_an_error(place: Place):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        feed = run.follow()
        await anext(feed)
        waiting = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0)
    with pytest.raises(PlaitError):
        await waiting


async def test_nobody_is_left_in_the_feed_when_he_has_gone(place: Place):
    async with place.engine(listener) as engine:
        run = await engine.start(listener)
        feed = run.follow()
        await anext(feed)
        assert engine.kernel.subscriptions.watchers == 1
        await feed.aclose()  # type: ignore[attr-defined]
        assert engine.kernel.subscriptions.watchers == 0


async def follows_from_elsewhere(owner: Engine, other: Engine) -> None:
    run = await owner.start(many_steps, 200, id="steps")
    waiting = await owner.start(listener, id="waits")
    feeds = [followed((await other.get(run.id)).follow()) for _ in range(3)]
    late = asyncio.ensure_future(followed((await other.get(waiting.id)).follow()))
    for found in await asyncio.gather(*feeds):
        assert found == await run.events()
    await waiting.message("go", "now")
    assert await late == await waiting.events()


async def test_runs_of_another_engine_on_postgresql_are_followed(postgres_url: str):
    flows = [many_steps, listener]
    async with Engine(postgres_url, definitions=flows) as owner, Engine(postgres_url, work=False) as other:
        await follows_from_elsewhere(owner, other)


async def test_runs_of_another_engine_on_the_same_file_are_followed(disk: OnDisk):
    async with disk.engine(many_steps, listener) as owner, disk.engine(work=False) as other:
        await follows_from_elsewhere(owner, other)


async def test_two_engines_that_share_the_work_follow_each_others_runs(postgres_url: str):
    flows = [many_steps]
    async with Engine(postgres_url, definitions=flows) as a, Engine(postgres_url, definitions=flows) as b:
        runs = [await (a if number % 2 else b).start(many_steps, 20) for number in range(20)]
        feeds = [(await engine.get(run.id)).follow() for run in runs for engine in (a, b)]
        found = await asyncio.gather(*map(followed, feeds))
        for number, run in enumerate(runs):
            events = await run.events()
            assert events[-1].type == "run.completed"
            assert found[2 * number] == found[2 * number + 1] == events


# -- lists -----------------------------------------------------------------------------------------------------------


class Page:
    """What a page shows that takes over the changes it is sent."""

    def __init__(self, feed: AsyncIterator[RunChanges]) -> None:
        self._feed = feed
        self.shown: dict[str, str] = {}

    async def turn(self) -> dict[str, str]:
        changes = await anext(self._feed)
        if changes.snapshot:
            self.shown = {}
        for row in changes.runs:
            self.shown[row.id] = row.status
        for run_id in changes.gone:
            del self.shown[run_id]
        return self.shown

    async def until(self, shown: dict[str, str]) -> None:
        async with asyncio.timeout(10):
            while self.shown != shown:
                await self.turn()


async def test_a_list_shows_runs_that_begin_and_end(place: Place):
    async with place.engine(listener, echo) as engine:
        page = Page(engine.follow_runs())
        assert await page.turn() == {}
        run = await engine.start(listener, id="a")
        await page.until({"a": "running"})
        await run.message("go")
        await engine.start(echo, 1, id="b")
        await page.until({"a": "completed", "b": "completed"})


async def test_a_list_drops_what_does_not_fit_its_filter_any_more(place: Place):
    async with place.engine(listener) as engine:
        run = await engine.start(listener, id="a")
        page = Page(engine.follow_runs(RunFilter(status="running")))
        assert await page.turn() == {"a": "running"}
        await run.cancel()
        await page.until({})


async def test_watchers_of_one_filter_share_what_is_read(place: Place):
    async with place.engine(listener) as engine:
        pages = [Page(engine.follow_runs()) for _ in range(20)]
        for page in pages:
            await page.turn()
        await engine.start(listener, id="a")
        await asyncio.gather(*(page.until({"a": "running"}) for page in pages))
        assert engine.kernel.subscriptions.watchers == 1


async def test_a_list_is_not_read_again_for_runs_that_are_nothing_to_it(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.engine.live_lists.PAUSE", 0.0)
    async with place.engine(listener, echo) as engine:
        read: list[RunFilter] = []
        reading = 0
        runs = engine.kernel.store.runs

        async def counted(query: RunFilter):
            nonlocal reading
            read.append(query)
            reading += 1
            found = await runs(query)
            reading -= 1
            return found

        async def another() -> None:
            await (await engine.start(echo, 1, labels={"team": "blue"})).result()

        async def all_is_read() -> None:
            """A run may change once more after it is shown, and a list is read for that: before a whole run of another
            team has come and gone, unless the store takes longer to read than to write."""
            last = -1
            while reading or last != len(read):
                last = len(read)
                await another()

        monkeypatch.setattr(engine.kernel.store, "runs", counted)
        page = Page(engine.follow_runs(RunFilter(namespace="default", labels={"team": "red"})))
        assert await page.turn() == {}
        await engine.start(listener, id="a", labels={"team": "red"})
        await page.until({"a": "running"})
        await all_is_read()
        before = len(read)
        for _ in range(20):
            await another()
        assert len(read) == before
        await engine.start(listener, id="b", labels={"team": "red"})
        await page.until({"a": "running", "b": "running"})
        assert len(read) == before + 1


async def test_a_watcher_who_fell_behind_gets_the_whole_page(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.engine.live_lists.PAUSE", 0.0)
    async with place.engine(listener) as engine:
        slow, quick = Page(engine.follow_runs()), Page(engine.follow_runs())
        await slow.turn()
        await quick.turn()
        shown: dict[str, str] = {}
        for number in range(80):
            await engine.start(listener, id=f"r{number:02}")
            shown[f"r{number:02}"] = "running"
            await quick.until(shown)
        assert await slow.turn() == shown


async def test_a_list_sees_what_another_engine_does(postgres_url: str):
    async with Engine(postgres_url, definitions=[listener]) as owner, Engine(postgres_url, work=False) as other:
        page = Page(other.follow_runs())
        await page.turn()
        run = await owner.start(listener, id="a")
        await page.until({"a": "running"})
        await run.message("go")
        await page.until({"a": "completed"})


async def test_a_list_ends_with_its_engine(place: Place):
    async with place.engine() as engine:
        feed = engine.follow_runs()
        await anext(feed)
        waiting = asyncio.ensure_future(anext(feed, None))
        await asyncio.sleep(0)
    assert await waiting is None


async def test_following_a_run_that_is_not_there_is_an_error(place: Place):
    async with place.engine() as engine:
        with pytest.raises(NotFound):
            await engine.get("nope")


def kinds(events: list[Any]) -> list[str]:
    return [event.type for event in events]


async def test_a_reopened_run_is_followed_again(place: Place):
    tries: list[int] = []

    @workflow
    async def fails_once(ctx: Context) -> str:
        await ctx.step("try", lambda: tries.append(1) or 1 // (len(tries) - 1), max_attempts=1)
        return "done"

    async with place.engine(fails_once) as engine:
        run = await engine.start(fails_once)
        first = await followed(run.follow())
        assert kinds(first)[-1] == "run.failed"
        await run.retry()
        await soon(lambda: _completed(run))
        assert kinds(await followed(run.follow(after=first[-1].seq)))[-1] == "run.completed"


async def _completed(run: Any) -> bool:
    return await run.status() == "completed"
