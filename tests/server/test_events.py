"""The event log over HTTP: by page, and live without a gap or a repetition."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

import pytest

from plait import Engine
from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId
from plait.server.site import Settings
from tests.server import flows
from tests.server.serving import API, Frame, Served, problem, serving, soon, watching

TEA = {"customer": "Ann"}


async def all_of(served: Served, id: str) -> list[dict[str, Any]]:
    return (await served.get(f"/runs/{id}/events", params={"limit": 5000})).json()["events"]


async def to_the_end(served: Served, id: str, headers: dict[str, str] | None = None, **params: str) -> list[Frame]:
    async with watching(served, f"/runs/{id}/events", headers, **params) as stream:
        return [frame async for frame in stream]


async def test_events_come_in_pages(db: str):
    async with serving(db) as served:
        id = await served.start("chatty", 10)
        await served.ended(id)
        found: list[int] = []
        after: int | None = 0
        while after is not None:
            page = (await served.get(f"/runs/{id}/events", params={"after": after, "limit": 4})).json()
            found += [event["seq"] for event in page["events"]]
            after = page.get("next")
        assert found == list(range(1, len(found) + 1))
        assert found == [event["seq"] for event in await all_of(served, id)]


async def test_a_watcher_sees_every_event_once_and_then_the_end(db: str):
    async with serving(db) as served:
        id = await served.start("order", TEA)
        async with watching(served, f"/runs/{id}/events") as stream:
            first = await anext(stream)
            assert (first.event, first.id, first.data["type"]) == ("message", "1", "run.started")
            await served.post(f"/runs/{id}/messages", {"name": "go"})
            rest = [frame async for frame in stream]
        log = await all_of(served, id)
        assert [first.data, *(frame.data for frame in rest[:-1])] == log
        assert (rest[-1].event, rest[-1].data) == ("end", {"status": "completed"})


async def test_a_watcher_who_reconnects_gets_the_rest(db: str):
    async with serving(db) as served:
        id = await served.start("chatty", 5)
        await served.ended(id)
        log = await all_of(served, id)
        for last in (1, 4, len(log)):
            frames = await to_the_end(served, id, {"last-event-id": str(last)})
            assert [frame.data for frame in frames[:-1]] == log[last:]
            assert frames[-1].event == "end"
        by_query = await to_the_end(served, id, after="3")
        assert by_query[0].id == "4"
        header_wins = await to_the_end(served, id, {"last-event-id": "5"}, after="3")
        assert header_wins[0].id == "6"


async def test_a_connection_that_breaks_again_and_again_misses_nothing(db: str):
    async with serving(db) as served:
        id = await served.start("chatty", 150)
        seen: list[int] = []
        ended = False
        while not ended:
            headers = {"last-event-id": str(seen[-1])} if seen else {}
            async with watching(served, f"/runs/{id}/events", headers) as stream:
                async for frame in stream:
                    if frame.event == "end":
                        ended = True
                        break
                    seen.append(frame.data["seq"])
                    if len(seen) % 7 == 0:
                        break
        assert seen == list(range(1, len(await all_of(served, id)) + 1))


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30])
async def test_a_last_event_id_that_is_no_number_is_refused(db: str, last: str):
    async with serving(db) as served:
        id = await served.start("quick", TEA)
        asked = {"accept": "text/event-stream", "last-event-id": last}
        problem(await served.get(f"/runs/{id}/events", headers=asked), 400, "http.bad_query")


async def test_a_watcher_who_reads_nothing_holds_nobody_up(db: str):
    async with serving(db) as served:
        id = await served.start("echo", "x" * 100_000, id="big")
        await served.ended(id)
        host, port = served.url.removeprefix("http://").split(":")
        idle = [await _ask_and_read_nothing(host, int(port), id) for _ in range(20)]
        frames = await to_the_end(served, await served.start("chatty", 50))
        assert frames[-1].event == "end"
        for each in idle:
            each.close()


async def _ask_and_read_nothing(host: str, port: int, id: str) -> socket.socket:
    """A client with a full receive window."""
    quiet = socket.socket()
    quiet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    quiet.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(quiet, (host, port))
    head = f"GET {API}/runs/{id}/events HTTP/1.1\r\nhost: {host}\r\naccept: text/event-stream\r\n\r\n"
    await loop.sock_sendall(quiet, head.encode())
    return quiet


async def test_a_stalled_watcher_is_given_up(db: str):
    async with serving(db, settings=Settings(stall_seconds=0.2, max_body=16_000_000)) as served:
        id = await served.start("echo", "x" * 8_000_000, id="huge")
        await served.ended(id)
        host, port = served.url.removeprefix("http://").split(":")
        quiet = await _ask_and_read_nothing(host, int(port), id)
        await soon(lambda: _is(served.site.watchers == 1))
        await soon(lambda: _is(served.site.watchers == 0))
        quiet.close()


async def _is(so: bool) -> bool:
    return so


async def test_a_silent_stream_gives_signs_of_life(db: str):
    async with serving(db, settings=Settings(heartbeat=0.02)) as served:
        id = await served.start("order", TEA)
        asked = {"accept": "text/event-stream"}
        async with served.client.stream("GET", f"{API}/runs/{id}/events", headers=asked) as answer:
            alive = 0
            async for line in answer.aiter_lines():
                alive += line == ": alive"
                if alive == 3:
                    break


async def test_a_watcher_who_leaves_gives_his_place_back(db: str):
    async with serving(db, settings=Settings(max_watchers=1)) as served:
        id = await served.start("order", TEA)
        async with watching(served, f"/runs/{id}/events") as stream:
            await anext(stream)
            asked = {"accept": "text/event-stream"}
            answer = await served.get(f"/runs/{id}/events", headers=asked)
            problem(answer, 503, "http.too_many_watchers")
            assert answer.headers["retry-after"] == "1"
        await soon(lambda: _is(served.site.watchers == 0 and served.engine.kernel.subscriptions.watchers == 0))
        async with watching(served, f"/runs/{id}/events") as stream:
            assert (await anext(stream)).id == "1"


async def test_streams_end_when_the_server_stops_and_go_on_elsewhere(tmp_path: Path):
    db = f"sqlite:///{tmp_path}/plait.db"
    async with contextlib.AsyncExitStack() as first:
        served = await first.enter_async_context(serving(db))
        id = await served.start("order", TEA)
        async with watching(served, f"/runs/{id}/events") as stream:
            seen = [await anext(stream)]
            served.process.stop()
            seen += [frame async for frame in stream]  # ends by itself
        assert "end" not in {frame.event for frame in seen}
    async with serving(db) as served:
        await served.post(f"/runs/{id}/messages", {"name": "go"})
        rest = await to_the_end(served, id, {"last-event-id": seen[-1].id or "0"})
        assert [frame.data for frame in [*seen, *rest[:-1]]] == await all_of(served, id)


async def test_runs_of_another_engine_are_live_here(postgres_url: str):
    """Two engine processes would be the same: each has its own connection, owner name and shards."""
    async with Engine(postgres_url, definitions=[flows]) as other, serving(postgres_url, work=False) as served:
        id = await served.start("order", TEA)
        await served.waits(id, "message")
        assert other.kernel.owns(RunId(id))
        assert not served.engine.kernel.owns(RunId(id))
        async with watching(served, f"/runs/{id}/events") as stream, watching(served, "/runs") as listed:
            assert (await anext(listed)).data["runs"][0]["status"] == "running"
            seen = [await anext(stream)]
            await served.post(f"/runs/{id}/messages", {"name": "go"})
            seen += [frame async for frame in stream]
            turn = await anext(listed)
        assert [frame.data for frame in seen[:-1]] == await all_of(served, id)
        assert seen[-1].event == "end"
        assert turn.data["runs"][0]["status"] == "completed"


async def test_a_page_goes_on_after_the_last_event_too(db: str):
    async with serving(db) as served:
        id = await served.start("chatty", 3)
        await served.ended(id)
        page = (await served.get(f"/runs/{id}/events", headers={"last-event-id": "2"})).json()
        assert page["events"][0]["seq"] == 3
        problem(await served.get(f"/runs/{id}/events", headers={"last-event-id": "x"}), 400, "http.bad_query")


async def test_a_store_that_goes_away_ends_the_stream_properly(
    db: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def away(*_: Any) -> None:
        raise Unavailable("store.unavailable", "the database does not answer")

    async with serving(db) as served:
        id = await served.start("order", TEA)
        await served.waits(id, "message")
        async with watching(served, f"/runs/{id}/events") as stream:
            seen = [await anext(stream)]
            monkeypatch.setattr(served.engine.kernel.store, "run", away)
            served.engine.kernel.subscriptions.moved(RunId(id))
            seen += [frame async for frame in stream]  # no protocol error
        monkeypatch.undo()
        assert "end" not in {frame.event for frame in seen}
        assert "store.unavailable" in caplog.text
        assert (await served.get(f"/runs/{id}")).status_code == 200


async def test_a_feed_tells_the_log_in_other_words_by_page_and_live(db: str):
    code = {"code": "export default function(input) { return input.x }"}
    steps = [
        {"name": "each", "action": code, "input": {"x": "@item"}, "forEach": {"ref": "@input"}},
        {"name": "never", "action": code, "when": {"ref": "@each", "eq": None}},
    ]
    async with serving(db) as served:
        body = {"dialect": "refs", "definition": {"steps": steps}, "input": [7], "id": "run"}
        assert (await served.post("/runs", body)).status_code == 201
        await served.ended("run")
        page = (await served.get("/runs/run/events", params={"feed": "compat"})).json()["events"]
        assert [(event["type"], event["data"]) for event in page] == [
            ("workflow.execution.created", {}),
            ("workflow.step.execute", {"stepName": "each", "iterationIndex": 0}),
            ("workflow.step.completed", {"stepName": "each", "iterationIndex": 0}),
            ("workflow.step.completed", {"stepName": "each"}),
            ("workflow.step.completed", {"stepName": "never"}),
        ]
        frames = await to_the_end(served, "run", feed="compat")
        assert [frame.data for frame in frames[:-1]] == page
        assert frames[-1].event == "end"
        last = await to_the_end(served, "run", {"last-event-id": str(page[-2]["seq"])}, feed="compat")
        assert [frame.data for frame in last[:-1]] == page[-1:]
        short = (await served.get("/runs/run/events", params={"feed": "compat", "limit": 1})).json()
        assert (short["events"], short["next"]) == ([], 1)
