"""The client of a real server gives what the engine in it gives."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from inspect import signature
from typing import Any

import pytest
from msgspec.structs import replace

from plait import Engine, Handle
from plait.client import Client, RemoteRun
from plait.errors import Conflict, InvalidInput, NotFound, RunFailed
from plait.kernel.store import RunFilter
from tests.server.serving import serving, soon

from . import flows


@asynccontextmanager
async def both() -> AsyncGenerator[tuple[Engine, Client]]:
    async with serving(definitions=(flows,)) as served, Client(served.url) as client:
        await served.engine.definitions.remember()
        yield served.engine, client


async def waits(run: RemoteRun, kind: str) -> None:
    async def asked() -> bool:
        return any(reason.kind == kind for reason in await run.waiting())

    await soon(asked)


async def waiting_order(engine: Engine, client: Client, id: str = "o") -> tuple[Handle[Any], RemoteRun]:
    run = await client.start("order", "tea", id=id, labels={"shop": "north"}, deadline=timedelta(hours=1))
    await waits(run, "message")
    return await engine.get(id), run


async def test_a_run_is_started_told_and_gives_its_result():
    async with both() as (engine, client):
        _, run = await waiting_order(engine, client)
        result = asyncio.ensure_future(run.result())
        key = await run.message("paid", 3)
        assert await run.message("paid", 3, key) == key
        assert await result == "hold of tea, paid 3"
        assert await run.status() == "completed"


async def test_what_is_seen_is_the_same():
    async with both() as (engine, client):
        handle, run = await waiting_order(engine, client)
        for at in (None, 3):
            row = await run.row()
            assert replace(await run.picture(at), row=row) == replace(await handle.picture(at), row=row)
        assert await run.view() == await handle.view()
        assert await run.waiting() == await handle.waiting()
        assert await run.events() == await handle.events()
        assert await run.events(1, 2) == await handle.events(1, 2)
        assert [bar.node for bar in await run.timeline()] == [bar.node for bar in await handle.timeline()]


async def test_the_record_is_the_same_but_for_what_only_an_owner_needs():
    async with both() as (engine, client):
        handle, run = await waiting_order(engine, client)
        row, far = await handle.row(), await run.row()
        for name in ("id", "namespace", "dialect", "definition", "shard", "status", "labels", "created_at", "deadline"):
            assert getattr(far, name) == getattr(row, name)
        await run.message("paid", 1)
        await run.result()
        assert (await run.row()).output == (await handle.row()).output


async def test_lines_of_steps():
    async with both() as (engine, client):
        handle, run = await waiting_order(engine, client)
        await soon(handle.logs)
        assert await run.logs() == await handle.logs()
        assert [line.text for line in await run.logs("reserve")] == ["reserving tea"]


async def test_a_failed_run_raises_what_it_failed_with():
    async with both() as (_, client):
        run = await client.start("failing")
        with pytest.raises(RunFailed) as raised:
            await run.result()
        assert (raised.value.run_status, raised.value.run_id) == ("failed", run.id)
        assert "the bank says no" in raised.value.error.message


async def test_a_cancelled_run_raises_its_reason():
    async with both() as (engine, client):
        _, run = await waiting_order(engine, client)
        await run.cancel("enough", compensate=True)
        with pytest.raises(RunFailed, match="enough") as raised:
            await run.result()
        assert raised.value.run_status == "cancelled"


async def test_runs_are_listed_page_by_page():
    async with both() as (engine, client):
        for number in range(7):
            await engine.start("echo", number, id=f"e-{number}", labels={"odd": str(number % 2)})
        client_page = await client.runs(RunFilter(namespace="default", labels={"odd": "1"}, limit=2))
        assert [row.id for row in client_page] == ["e-5", "e-3"]
        assert [row.id for row in await client.runs()] == [row.id for row in await engine.runs()]
        assert await client.runs(RunFilter(text="e-6", status=["failed", "blocked"])) == []
        with pytest.raises(InvalidInput):
            await client.runs(RunFilter(id_prefix="e"))


async def test_more_runs_than_a_page_holds():
    async with both() as (engine, client):
        for number in range(520):
            await engine.start("echo", number, id=f"e-{number}")
        found = await client.runs(RunFilter(limit=515))
        assert [row.id for row in found] == [row.id for row in await engine.runs(RunFilter(limit=515))]


async def test_forks_and_their_differences():
    async with both() as (engine, client):
        handle, run = await waiting_order(engine, client)
        fork = await run.fork(edits={"reserve": "hold of pot"}, id="f")
        await fork.message("paid", 1)
        assert await fork.result() == "hold of pot, paid 1"
        await run.message("paid", 1)
        await run.result()
        found, known = await client.diff(run, fork), await engine.diff(handle, await engine.get("f"))
        assert (found.input, found.output, found.nodes) == (known.input, known.output, known.nodes)
        with pytest.raises(Conflict):
            await run.fork(id="f")


async def test_questions_have_their_form_and_evidence():
    async with both() as (engine, client):
        run = await client.start("asking", id="a")
        await waits(run, "approval")
        assert await client.approvals.list() == await engine.approvals.list()
        assert await client.approvals.list(run_id="b") == []
        with pytest.raises(InvalidInput) as raised:
            await client.approvals.decide("a:budget", "approve", data={"cents": "many"})
        assert [flaw.pointer for flaw in raised.value.flaws] == ["/cents"]
        await client.approvals.decide("a:budget", "approve", data={"cents": 700})
        assert await run.result() == 700


async def test_dead_letters():
    async with both() as (engine, client):
        run = await client.start("failing", id="f")
        with pytest.raises(RunFailed):
            await run.result()
        assert await client.dlq.list() == await engine.dlq.list()
        [letter] = await client.dlq.list(run_id="f")
        await client.dlq.discard(letter.id)
        assert await client.dlq.list() == []
        assert [settled.status for settled in await client.dlq.list(all=True)] == ["discarded"]


async def test_lists_of_dead_letters_have_a_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("plait.client.dead_letters._PAGE", 2)
    async with both() as (engine, client):
        for n in range(5):
            with pytest.raises(RunFailed):
                await (await client.start("failing", id=f"f-{n}")).result()
        known = await engine.dlq.list()
        place = known[1].at, known[1].id
        assert len(known) == 5
        assert await client.dlq.list() == known  # in three pages
        for each in (engine, client):
            assert await each.dlq.list(limit=3) == known[:3]
            assert await each.dlq.list(after=place, limit=2) == known[2:4]
            assert await each.dlq.list(limit=0) == []
            assert await each.dlq.list(status="discarded") == []
            assert await each.dlq.get(known[4].id) == known[4]
            with pytest.raises(NotFound, match="there is no dead letter"):
                await each.dlq.get("f-9:gate")


async def test_lists_of_dead_letters_and_approvals_have_a_bound_that_nobody_asked_for():
    async with both() as (engine, client):
        for each in (engine.dlq.list, client.dlq.list, engine.approvals.list, client.approvals.list):
            assert signature(each).parameters["limit"].default == 100


async def test_definitions_are_listed():
    async with both() as (engine, client):
        assert await client.definitions.list() == await engine.definitions.list()
        assert await client.definitions.list("spec") == []


async def test_the_same_start_twice_is_one_run_and_another_is_refused():
    async with both() as (_, client):
        assert (await client.start("echo", 1, id="e")).id == (await client.start("echo", 1, id="e")).id
        with pytest.raises(Conflict) as raised:
            await client.start("echo", 2, id="e")
        assert raised.value.code == "kernel.run_exists"


async def test_what_is_not_there():
    async with both() as (_, client):
        with pytest.raises(NotFound, match="there is no run nobody"):
            await client.get("nobody")
        with pytest.raises(NotFound):
            await client.start("nothing of the kind")


async def test_following_ends_with_the_run_and_gives_every_event_once():
    async with both() as (engine, client):
        handle, run = await waiting_order(engine, client)
        seen: list[int] = []

        async def follow() -> None:
            async for batch in run.follow():
                seen.extend(event.seq for event in batch)

        following = asyncio.ensure_future(follow())
        await run.message("paid", 1)
        await following
        assert seen == [event.seq for event in await handle.events()]


async def test_values_of_every_kind_come_back_as_they_were():
    value = {"a": [1, 2.5, None, True, "ü\u2028"], "": {}, "big": 2**53}
    async with both() as (_, client):
        assert await (await client.start("echo", value)).result() == value
        assert await (await client.start("echo", None)).result() is None


async def test_queries_updates_and_published_values_are_the_same():
    async with both() as (engine, client):
        run = await client.start("cart", id="c")
        handle = await engine.get("c")
        assert [await run.update("add", "tea", "u-1"), await handle.update("add", "tea", "u-1")] == [1, 1]
        assert await handle.update("add", "pen") == 2
        for asked in (run, handle):
            assert await asked.query("items") == ["hold of tea", "hold of pen"]
            assert await asked.query("items", 1) == ["hold of pen"]
            assert (await asked.published("count"), await asked.published("none", 7)) == (2, 7)
            with pytest.raises(InvalidInput, match="hold of tea is in the cart"):
                await asked.update("add", "hold of tea")
            with pytest.raises(NotFound, match="no update `ad`"):
                await asked.update("ad", "x")
            with pytest.raises(NotFound, match="no query `item`"):
                await asked.query("item")
        await run.message("pay")
        await run.result()
        assert [value async for value in run.stream("count")] == [value async for value in handle.stream("count")]
        assert await run.query("items") == ["hold of tea", "hold of pen"]


async def test_schedules_are_the_same():
    async with both() as (engine, client):
        made = await client.schedules.create("s", "echo", 1, cron="30 2 1 1 *", tz="Europe/Berlin", labels={"a": "b"})
        assert made == await engine.schedules.get("s") == await client.schedules.get("s")
        with pytest.raises(Conflict):
            await client.schedules.create("s", "echo", 1, every=60)
        edited = await client.schedules.create("s", "echo", 2, every=timedelta(days=300), replace=True)
        assert (edited.input, edited.every_ms, edited.cron) == (2, 300 * 86_400_000, None)
        assert await client.schedules.list() == await engine.schedules.list()
        triggered = await client.schedules.trigger("s", overlap="allow")
        await soon(lambda: client.schedules.fires("s"))
        assert await (await client.get(triggered.run_id)).result() == 2
        assert await client.schedules.fires("s") == await engine.schedules.fires("s")
        assert (await client.schedules.pause("s")).paused
        assert not (await client.schedules.resume("s")).paused
        past = datetime(2020, 1, 1, tzinfo=UTC)
        assert (await client.schedules.backfill("s", past, past + timedelta(days=300))).count == 1
        after = datetime(2026, 1, 1, tzinfo=UTC)
        asked: dict[str, Any] = {"cron": "0 9 * * *", "tz": "Asia/Tokyo", "after": after}
        assert await client.schedules.preview(**asked) == await engine.schedules.preview(**asked)
        await client.schedules.delete("s")
        with pytest.raises(NotFound):
            await engine.schedules.get("s")
