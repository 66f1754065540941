"""Messages: in order, once, to whoever listened first."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plait import Context, Limits, Loop, workflow
from plait.errors import Busy, Conflict, MessageBodyError, NotFound

from .conftest import Simulate
from .decided import deciding


@dataclass
class Answer:
    yes: bool
    why: str = ""


async def test_a_message_is_what_was_sent(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        message = await ctx.listen("go")
        assert message is not None
        return [message.id, message.name, message.body, message.sent_at.isoformat()]

    async with simulate() as s:
        run = await s.start(w)
        await s.clock.advance(5)
        assert await run.message("go", {"a": [1, None]}, id="m-1") == "m-1"
        assert await s.result(run) == ["m-1", "go", {"a": [1, None]}, "2030-01-01T00:00:05+00:00"]


async def test_messages_are_taken_in_order_of_arrival() -> None:
    @workflow
    async def w(ctx: Context) -> list[int]:
        await ctx.sleep("nap", 10)
        return [(await ctx.listen(f"l{n}", "m")).body for n in range(3)]  # type: ignore[union-attr]

    async with deciding() as s:
        run = await s.start(w)
        for n in range(3):
            await run.message("m", n)
        await s.crash()
        assert await s.result(run) == [0, 1, 2]


async def test_the_name_of_the_operation_is_the_default_name() -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        return (await ctx.listen("approve")).body  # type: ignore[union-attr]

    async with deciding() as s:
        run = await s.start(w)
        await run.message("other", 1)
        await run.message("approve", 2)
        assert await s.result(run) == 2


async def test_a_list_means_any_of_the_names_first_come_first_served() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        await ctx.sleep("nap", 1)
        found = [await ctx.listen(f"l{n}", ["yes", "no"]) for n in range(2)]
        rest = await ctx.listen("maybe")
        return [message.name for message in (*found, rest) if message is not None]

    async with deciding() as s:
        run = await s.start(w)
        for name in ("maybe", "no", "yes"):
            await run.message(name)
        assert await s.result(run) == ["no", "yes", "maybe"]


async def test_the_first_to_listen_is_the_first_to_be_served() -> None:
    @workflow
    async def w(ctx: Context) -> dict[str, Any]:
        found = await ctx.join(
            "j",
            a=lambda c: c.listen("x", ["m", "n"]),
            b=lambda c: c.listen("x", ["m"]),
            c=lambda c: c.listen("x", "m"),
        )
        return {key: message.body for key, message in found.items() if message is not None}

    async with deciding() as s:
        run = await s.start(w)
        await s.settle()
        for n in range(3):
            await run.message("m", n)
        assert await s.result(run) == {"a": 0, "b": 1, "c": 2}


async def test_messages_that_nobody_wants_stay_in_the_queue() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.listen("b")
        second = await ctx.listen("a")
        return [first.body, second.body]  # type: ignore[union-attr]

    async with deciding() as s:
        run = await s.start(w)
        await run.message("a", 1)
        await run.message("b", 2)
        assert await s.result(run) == [2, 1]


async def test_listen_n_takes_what_is_there_up_to_its_limit() -> None:
    @workflow
    async def w(ctx: Context) -> list[list[int]]:
        await ctx.sleep("nap", 1)
        found: list[list[int]] = []
        for n in range(3):
            batch = await ctx.listen_n(f"batch:{n}", "m", limit=3)
            found.append([message.body for message in batch])
        return found

    async with deciding() as s:
        run = await s.start(w)
        for n in range(5):
            await run.message("m", n)
        await s.clock.advance(1)
        assert await run.status() == "running"
        await s.crash()
        await run.message("m", 5)  # one is enough
        assert await s.result(run) == [[0, 1, 2], [3, 4], [5]]


async def test_when_the_time_is_up_there_is_nothing() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        start = ctx.now()
        found: list[Any] = [
            await ctx.listen("a", timeout=10),
            await ctx.listen("b", timeout=timedelta(seconds=10)),
            await ctx.listen("c", until=start + timedelta(seconds=30)),
            await ctx.listen_n("d", limit=5, timeout=10),
            await ctx.listen("e", until=datetime(2020, 1, 1, tzinfo=UTC)),
            await ctx.listen("f", timeout=0),
            await ctx.listen("g", timeout=-5),
        ]
        return [*found, (ctx.now() - start).total_seconds()]

    async with deciding() as s:
        assert await s.run(w) == [None, None, None, [], None, None, None, 40]


async def test_a_message_that_is_there_wins_over_a_time_that_is_up() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        await ctx.sleep("nap", 10)
        first = await ctx.listen("a", "m", timeout=0)
        second = await ctx.listen("b", "m", timeout=0)
        return [first and first.body, second]

    async with deciding() as s:
        run = await s.start(w)
        await run.message("m", 1)
        assert await s.result(run) == [1, None]


async def test_a_message_that_came_before_its_deadline_was_handled_wins(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> Any:
        message = await ctx.listen("m", timeout=10)
        return message and message.body

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        await s.engine.kernel.crash()
        s.clock._elapsed += 20_000
        store = s.store
        from plait import Engine

        async with Engine(store=store, clock=s.clock, work=False) as outside:
            await (await outside.get(run.id)).message("m", "just in time")
        await s.crash()
        assert await s.result(run) == "just in time"


async def test_a_message_clears_the_deadline() -> None:
    @workflow
    async def w(ctx: Context) -> str:
        await ctx.listen("m", timeout=10)
        await ctx.sleep("long", 100)
        return f"{ctx.now():%M:%S}"

    async with deciding() as s:
        run = await s.start(w)
        await s.clock.advance(5)
        await run.message("m")
        assert await s.result(run) == "01:45"


async def test_the_same_id_twice_is_one_message() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        first = await ctx.listen("a", "m")
        second = await ctx.listen("b", "m", timeout=10)
        return [first.body, second]  # type: ignore[union-attr]

    async with deciding() as s:
        run = await s.start(w)
        await run.message("m", 1, id="x")
        await s.settle()
        await s.crash()
        await run.message("m", 2, id="x")
        assert await s.result(run) == [1, None]


async def test_a_body_comes_as_the_type_asked_for() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        one = await ctx.listen("a", "m", type=Answer)
        many = await ctx.listen_n("b", "m", limit=2, type=Answer)
        raced = await ctx.race("r", m=lambda c: c.listen("c", "m", type=Answer))
        assert one is not None
        assert raced.value is not None
        return [one.body.yes, [type(message.body).__name__ for message in many], type(raced.value.body).__name__]

    async with deciding() as s:
        run = await s.start(w)
        for _ in range(3):
            await run.message("m", {"yes": True})
            await s.settle()
        assert await s.result(run) == [True, ["Answer"], "Answer"]


async def test_a_body_that_misfits_is_consumed_and_raises() -> None:
    @workflow
    async def w(ctx: Context) -> list[str]:
        found: list[str] = []
        for n in range(2):
            try:
                message = await ctx.listen(f"l{n}", "m", type=Answer)
                found.append(str(message and message.body.yes))
            except MessageBodyError as error:
                found.append(str(error))
        await ctx.sleep("nap", 1)
        return found

    async with deciding() as s:
        run = await s.start(w)
        await run.message("m", {"yes": "perhaps"}, id="m-1")
        await run.message("m", {"yes": True})
        await s.settle()
        await s.crash()
        found = await s.result(run)
    assert "message `m` (m-1)" in found[0]
    assert "`bool`" in found[0]
    assert found[1] == "True"


async def test_one_misfit_in_a_batch_does_not_hide_the_others() -> None:
    @workflow
    async def w(ctx: Context) -> list[Any]:
        await ctx.sleep("nap", 1)
        try:
            await ctx.listen_n("l", "m", limit=3, type=Answer)
        except MessageBodyError as error:
            return [message.body for message in error.received]
        return []

    async with deciding() as s:
        run = await s.start(w)
        for body in ({"yes": True}, {"yes": 5}, {"yes": False}):
            await run.message("m", body)
        assert await s.result(run) == [{"yes": True}, {"yes": 5}, {"yes": False}]


async def test_an_ended_run_takes_no_message(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> None: ...

    async with simulate() as s:
        run = await s.start(w)
        await s.result(run)
        with pytest.raises(Conflict) as caught:
            await run.message("m")
        assert caught.value.code == "RUN_FINISHED"
        assert caught.value.status == 409


async def test_an_unknown_run_is_not_found(simulate: Simulate) -> None:
    async with simulate() as s:
        with pytest.raises(NotFound) as caught:
            await s.engine.get("nobody")
        assert caught.value.status == 404


async def test_a_queue_that_is_full_takes_no_more_until_some_are_taken(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> int:
        await ctx.listen("start")
        total = 0
        while batch := await ctx.listen_n(f"batch:{total}", "m", limit=1000, timeout=10):
            total += len(batch)
        return total

    async with simulate(limits=Limits(max_queued_messages=5)) as s:
        run = await s.start(w)
        for n in range(5):
            await run.message("m", n)
            await s.settle()
        with pytest.raises(Busy) as caught:
            await run.message("m", 5)
        assert caught.value.status == 429
        assert "5 messages wait" in str(caught.value)
        with pytest.raises(Busy):
            await run.message("start")
        await run.cancel()


async def test_a_queue_that_was_full_takes_messages_again(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> int:
        await ctx.sleep("nap", 10)
        batch = await ctx.listen_n("batch", "m", limit=1000)
        await ctx.listen("more")
        return len(batch)

    async with simulate(limits=Limits(max_queued_messages=3)) as s:
        run = await s.start(w)
        for n in range(3):
            await run.message("m", n)
            await s.settle()
        with pytest.raises(Busy):
            await run.message("m", 3)
        await s.clock.advance(10)
        await run.message("more")
        assert await s.result(run) == 3


async def test_thousands_of_messages_are_taken_in_reasonable_time(simulate: Simulate) -> None:
    @workflow
    async def w(ctx: Context) -> int:
        async def take(c: Context, total: int) -> Any:
            message = await c.listen("m", timeout=1)
            return Loop.break_(total) if message is None else Loop.continue_(total + message.body)

        await ctx.listen("go")
        return await ctx.loop("all", take, state=0)

    async with simulate() as s:
        run = await s.start(w)
        await asyncio.gather(*(run.message("m", 1) for _ in range(3000)))
        await run.message("go")
        assert await s.result(run) == 3000


async def test_messages_sent_while_the_engine_was_away_are_taken_in_order(simulate: Simulate) -> None:
    from plait import Engine

    @workflow
    async def w(ctx: Context) -> list[int]:
        return [(await ctx.listen(f"l{n}", "m")).body for n in range(3)]  # type: ignore[union-attr]

    async with simulate() as s:
        run = await s.start(w)
        await s.settle()
        await s.engine.kernel.crash()
        async with Engine(store=s.store, clock=s.clock, work=False) as outside:
            handle = await outside.get(run.id)
            for n in range(3):
                await handle.message("m", n)
        await s.crash()
        assert await s.result(run) == [0, 1, 2]
