"""Recordings on an engine, with MCP servers in this process: what a program sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plait import Engine
from plait.errors import Conflict, InvalidInput, NotFound, PlaitError, RunFailed

from . import shop_servers

SERVERS = {"crm": shop_servers.crm, "orders": shop_servers.orders}


@asynccontextmanager
async def engine(path: Path) -> AsyncIterator[Engine]:
    servers = {name: make() for name, make in SERVERS.items()}
    async with Engine(f"sqlite:///{path}/plait.db", mcp_servers=servers) as found:
        yield found


@pytest.fixture
def effects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "effects"
    path.touch()
    monkeypatch.setenv("SHOP_EFFECTS", str(path))
    return path


async def order(found: Engine) -> str:
    """A session: somebody orders tea for customer 7."""
    recordings = found.recordings
    run = await recordings.start({"customer": 7}, title="Order tea")
    user = await recordings.call(run, "GET_USER", {"id": "@input.customer"}, read_only=True)
    assert (user.step, user.output["name"]) == ("get_user_1", "Anneliese")
    made = await recordings.call(run, "CREATE_ORDER", {"userId": 42, "items": ["tea"]})
    assert made.output == {"number": "order-42", "total": 10}
    text = "Dear Anneliese, order-42 is on its way"
    await recordings.call(run, "SEND_MAIL", {"to": "@get_user_1.email", "text": text})
    return run


async def test_a_session_becomes_a_workflow_that_runs_with_other_input(tmp_path: Path, effects: Path) -> None:
    async with engine(tmp_path) as found:
        run = await order(found)
        draft = await found.recordings.draft(run, accept="high")
        assert [step.included for step in draft.steps] == [True, True, True]
        texts = [each.id for each in draft.suggestions if each.kind == "text"]
        high = [each.id for each in draft.suggestions if each.confidence >= 80]
        accept = [*high, *texts]
        assert await found.recordings.stop(run, {"order": "@create_order_1.number"}) == {"order": "order-42"}
        await found.recordings.save(run, "order-tea", accept=accept)
        replay = await found.start("order-tea", {"customer": 8})
        assert await replay.result() == {"order": "order-43"}
        assert effects.read_text().splitlines() == [
            "order 42 tea",
            "mail ann@example.org Dear Anneliese, order-42 is on its way",
            "order 43 tea",
            "mail b@example.org Dear Bernhard, order-43 is on its way",
        ]
        with pytest.raises(InvalidInput, match="customer") as refused:
            await found.start("order-tea", {"customer": "eight"})
        assert refused.value.code == "invalid_input"
        assert refused.value.flaws[0].pointer.startswith("/input")


async def test_nothing_is_called_for_a_bad_reference_and_the_draft_stays(tmp_path: Path, effects: Path) -> None:
    async with engine(tmp_path) as found:
        run = await order(found)
        before = await found.recordings.draft(run)
        with pytest.raises(InvalidInput) as refused:
            await found.recordings.call(run, "SEND_MAIL", {"to": "@get_user_1.mail", "text": "x"})
        assert (refused.value.code, refused.value.flaws[0].pointer) == ("bad_ref", "/to")
        assert (await found.recordings.draft(run)) == before
        assert len(effects.read_text().splitlines()) == 2


async def test_a_key_is_called_once_whoever_repeats_it(tmp_path: Path, effects: Path) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        arguments = {"userId": 1, "items": ["tea"]}
        both = await asyncio.gather(
            found.recordings.call(run, "CREATE_ORDER", arguments, key="k-1", session="one"),
            found.recordings.call(run, "CREATE_ORDER", arguments, key="k-1", session="two"),
        )
        assert both[0] == both[1]
        await found.recordings.stop(run)
        assert await found.recordings.call(run, "CREATE_ORDER", arguments, key="k-1") == both[0]
        assert effects.read_text().splitlines() == ["order 1 tea"]


async def test_two_sessions_feed_one_recording(tmp_path: Path, effects: Path) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        calls = [
            found.recordings.call(run, "CREATE_ORDER", {"userId": each, "items": ["tea"]}, session=f"s{each % 2}")
            for each in range(10)
        ]
        steps = {called.step for called in await asyncio.gather(*calls)}
        assert steps == {f"create_order_{number}" for number in range(1, 11)}
        assert len(effects.read_text().splitlines()) == 10


async def test_a_failed_call_tells_what_the_server_said_and_leaves_no_dead_letter(tmp_path: Path) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        called = await found.recordings.call(run, "GET_USER", {"id": 99})
        assert called.failed
        assert "there is no user 99" in str(called.result)
        missing = await found.recordings.call(run, "GET_USR", {})
        assert missing.error is not None
        assert missing.error["code"] == "tool_not_found"
        assert not await found.dlq.list()
        assert (await found.recordings.draft(run)).definition["steps"] == []


async def test_another_namespace_has_no_such_recording(tmp_path: Path) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        for asking in (
            found.recordings.of("other").call(run, "GET_USER", {"id": 7}),
            found.recordings.of("other").draft(run),
            found.recordings.of("other").save(run, "mine"),
            found.recordings.draft("nope"),
        ):
            with pytest.raises(NotFound) as refused:
                await asking
            assert refused.value.code == "recording_not_found"


async def test_a_stopped_recording_takes_nothing_until_it_is_reopened(tmp_path: Path) -> None:
    async with engine(tmp_path) as found:
        run = await order(found)
        await found.recordings.stop(run)
        with pytest.raises(Conflict) as refused:
            await found.recordings.call(run, "GET_USER", {"id": 7})
        assert refused.value.code == "recording_closed"
        handle = await found.get(run)
        await handle.retry()
        assert (await found.recordings.call(run, "GET_USER", {"id": 7})).step == "get_user_2"


async def test_a_call_under_way_when_the_engine_stops_is_interrupted_and_not_repeated(
    tmp_path: Path, effects: Path
) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        slow = asyncio.ensure_future(found.recordings.call(run, "SLOW", key="slow"))
        async for events in (await found.get(run)).follow():
            if any(event.type == "step.started" for event in events):
                break
    with pytest.raises(PlaitError):
        await slow
    async with engine(tmp_path) as found:
        called = await found.recordings.call(run, "SLOW", key="slow")
        assert called.error is not None
        assert called.error["code"] == "interrupted"
        assert (await found.recordings.call(run, "GET_USER", {"id": 7})).step == "get_user_1"
        assert effects.read_text().splitlines().count("slow cancelled") <= 1


async def test_a_cancelled_call_ends_at_its_server(tmp_path: Path, effects: Path) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        slow = asyncio.ensure_future(found.recordings.call(run, "SLOW", key="slow"))
        async for events in (await found.get(run)).follow():
            if any(event.type == "step.started" for event in events):
                break
        await found.recordings.cancel(run, "slow")
        assert (await slow).error == {"code": "cancelled", "message": "its caller cancelled it"}


async def test_a_fork_goes_its_own_way_and_repeats_nothing(tmp_path: Path, effects: Path) -> None:
    async with engine(tmp_path) as found:
        run = await order(found)
        fork = await (await found.get(run)).fork()
        assert (await found.recordings.call(fork.id, "GET_USER", {"id": "@input.customer"})).step == "get_user_2"
        assert len((await found.recordings.draft(run)).steps) == 3
        assert len(effects.read_text().splitlines()) == 2


async def test_a_run_that_is_no_recording_can_not_be_saved_as_one(tmp_path: Path) -> None:
    from plait import refs

    async with engine(tmp_path) as found:
        step = {"name": "a", "action": {"toolName": "GET_USER"}, "input": {"id": 99}}
        handle = await found.start(refs({"steps": [step]}))
        with pytest.raises(RunFailed):
            await handle.result()
        with pytest.raises(Conflict) as refused:
            await found.recordings.save(handle.id, "x")
        assert refused.value.code == "not_a_recording"


async def test_options_that_can_not_be_read_are_refused_with_their_place(tmp_path: Path) -> None:
    async with engine(tmp_path) as found:
        run = await found.recordings.start()
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"inclde": []}, "/options/inclde"),
            ({"accept": 5}, "/options/accept"),
        ]
        for options, pointer in wrong:
            with pytest.raises(InvalidInput) as refused:
                await found.recordings.draft(run, **options)
            assert refused.value.flaws[0].pointer == pointer
