"""Signed links: one use, until their time, whatever crashes and whoever forges."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait import Context, Engine, workflow
from plait.errors import Conflict, InvalidInput, PlaitError, Unavailable
from plait.kernel.records import Record, Records
from plait.server.auth.audit import Audit
from plait.server.auth.links import DEFAULT, LONGEST, Link, LinkKind, Links
from tests.engine.places import soon
from tests.support.effort import examples

from .conftest import OpenEngine
from .support import HandClock, WatchedRecords

SECRET = b"s" * 32


@workflow
async def collects(ctx: Context) -> list[Any]:
    """Everything called `go`, until `stop`."""
    found: list[Any] = []
    while (message := await ctx.listen(f"m{len(found)}", ["go", "stop"])) is not None and message.name == "go":
        found.append(message.body)
    return found


@workflow
async def asks(ctx: Context) -> str:
    verdict = await ctx.approve("ok", by="boss")
    return f"{verdict.decision} {verdict.by}"


def links_on(engine: Engine, clock: HandClock, records: Records | None = None) -> Links:
    kept = records or engine.records
    return Links(kept, clock, SECRET, Audit(kept, clock))


@asynccontextmanager
async def links(engine: OpenEngine, clock: HandClock) -> AsyncGenerator[Links]:
    async with engine() as opened:
        yield links_on(opened, clock)


async def refused(links: Links, token: str, kind: LinkKind = "hook") -> PlaitError:
    with pytest.raises(PlaitError) as error:
        await links.open(token, kind)
    return error.value


async def nothing() -> str:
    return "done"


async def test_a_link_says_what_it_is_for(engine: OpenEngine, clock: HandClock):
    async with links(engine, clock) as signed:
        minted = signed.mint("hook", "team-a", "order 7/é", name="paid", expires_in=60)
        found = await signed.open(minted.token, "hook")
    assert found == minted.link
    assert (found.namespace, found.target, found.name) == ("team-a", "order 7/é", "paid")
    assert abs(found.expires_at - clock.now() - 60_000) < 5_000


async def test_looking_at_a_link_does_not_use_it_up(engine: OpenEngine, clock: HandClock):
    async with links(engine, clock) as signed:
        minted = signed.mint("approval", "team-a", "q-1")
        for _ in range(3):
            await signed.open(minted.token, "approval")
        assert await signed.spend(minted.link, nothing) == "done"


async def test_a_second_use_is_410_even_in_another_process(engine: OpenEngine, clock: HandClock):
    async with links(engine, clock) as here, links(engine, clock) as there:
        minted = here.mint("hook", "team-a", "r-1", name="go")
        await here.spend(await here.open(minted.token, "hook"), nothing)
        for signed in (here, there):
            error = await refused(signed, minted.token)
            assert (error.status, error.code) == (410, "auth.link_used")


async def test_a_link_whose_time_is_over_is_410(engine: OpenEngine, clock: HandClock):
    async with links(engine, clock) as signed:
        minted = signed.mint("hook", "team-a", "r-1", name="go", expires_in=60)
        clock.forward(60)
        error = await refused(signed, minted.token)
    assert (error.status, error.code) == (410, "auth.link_expired")


@pytest.mark.parametrize("noise", ["", "x", "plait1.", "plait1.AAAA", "plait1." + "A" * 200, "é", "a" * 10_000])
async def test_noise_is_404(engine: OpenEngine, clock: HandClock, noise: str):
    async with links(engine, clock) as signed:
        error = await refused(signed, noise)
    assert (error.status, error.code) == (404, "auth.bad_link")


async def test_a_link_of_another_kind_or_installation_looks_like_noise(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        signed = links_on(opened, clock)
        other = Links(opened.records, clock, b"t" * 32, Audit(opened.records, clock))
        hook, approval = signed.mint("hook", "a", "r-1", name="go"), signed.mint("approval", "a", "q-1")
        said = {
            str(await refused(signed, hook.token, "approval")),
            str(await refused(signed, approval.token, "hook")),
            str(await refused(other, hook.token, "hook")),
            str(await refused(signed, hook.token[:-1], "hook")),
            str(await refused(signed, "noise", "hook")),
        }
    assert len(said) == 1


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_a_link_with_any_bit_flipped_is_refused(engine: OpenEngine, clock: HandClock, data: st.DataObject):
    async with links(engine, clock) as signed:
        text = signed.mint("hook", "team-a", "r-1", name="go").token
        at = data.draw(st.integers(0, len(text) - 1))
        flipped = text[:at] + chr(ord(text[at]) ^ (1 << data.draw(st.integers(0, 7)))) + text[at + 1 :]
        assert (await refused(signed, flipped)).code == "auth.bad_link"


@pytest.mark.parametrize("span", [0, 0.5, -1, LONGEST + 1, float("nan"), float("inf")])
async def test_a_link_without_a_sensible_end_is_not_made(engine: OpenEngine, clock: HandClock, span: float):
    async with links(engine, clock) as signed:
        with pytest.raises(InvalidInput) as error:
            signed.mint("hook", "a", "r", expires_in=span)
    assert error.value.code == "auth.bad_expiry"


async def test_a_use_that_fails_leaves_the_link_good(engine: OpenEngine, clock: HandClock):
    async def full() -> None:
        raise Conflict("kernel.queue_full", "later")

    async with links(engine, clock) as signed:
        minted = signed.mint("hook", "a", "r-1", name="go")
        with pytest.raises(Conflict):
            await signed.spend(minted.link, full)
        assert await signed.spend(await signed.open(minted.token, "hook"), nothing) == "done"


async def test_marks_of_used_links_are_swept_when_they_are_of_no_use(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        signed = links_on(opened, clock)
        for _ in range(5):
            await signed.spend(signed.mint("hook", "a", "r-1", name="go").link, nothing)
        clock.forward(2 * DEFAULT + 1)
        await signed.spend(signed.mint("hook", "b", "r-1", name="go").link, nothing)
        assert len(await opened.records.list("auth.link_used")) == 1


async def test_the_audit_names_the_link_and_never_its_token(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        signed = links_on(opened, clock)
        minted = signed.mint("hook", "team-a", "r-1", name="go")
        await signed.spend(minted.link, nothing)
        (entry,) = (await Audit(opened.records, clock).page("team-a")).entries
    assert (entry.action, entry.target, entry.credential) == ("link.hook", "r-1", f"link:{minted.link.id}")
    assert minted.token not in str(entry)


# -- with real runs -------------------------------------------------------------------------------------------------


async def deliver(engine: Engine, signed: Links, link: Link, body: Any) -> str:
    handle = await engine.get(link.target, link.namespace)
    return await signed.spend(link, lambda: handle.message(link.name, body, id=link.id))


async def received(engine: Engine, run: str) -> list[Any]:
    handle = await engine.get(run)
    await handle.message("stop")
    return await handle.result()


async def test_a_hook_delivers_its_message_once_however_often_it_is_called_at_once(
    engine: OpenEngine, clock: HandClock
):
    async with engine(work=True, definitions=[collects]) as opened:
        await opened.start(collects, id="r-1")
        signed = links_on(opened, clock)
        link = signed.mint("hook", "default", "r-1", name="go").link
        answers = await asyncio.gather(
            *(deliver(opened, signed, link, number) for number in range(8)), return_exceptions=True
        )
        good = [answer for answer in answers if answer == link.id]
        rest = [answer for answer in answers if answer != link.id]
        assert len(good) == 1
        assert all(isinstance(error, PlaitError) and error.code == "auth.link_used" for error in rest)
        assert len(await received(opened, "r-1")) == 1


async def test_a_crash_between_delivery_and_mark_neither_loses_nor_doubles_the_message(
    engine: OpenEngine, clock: HandClock
):
    async with engine(work=True, definitions=[collects]) as opened:
        await opened.start(collects, id="r-1")
        records = WatchedRecords(opened)
        signed = links_on(opened, clock, records)
        minted = signed.mint("hook", "default", "r-1", name="go")
        records.fail_put["auth.link_used"] = Unavailable("store.away", "the process died here")
        with pytest.raises(Unavailable):
            await deliver(opened, signed, minted.link, "first")
        after_restart = links_on(opened, clock)
        link = await after_restart.open(minted.token, "hook")
        assert await deliver(opened, after_restart, link, "again") == link.id
        assert (await refused(after_restart, minted.token)).code == "auth.link_used"
        assert await received(opened, "r-1") == ["first"]


async def test_a_lost_answer_of_the_store_does_not_turn_the_first_use_into_a_second(
    engine: OpenEngine, clock: HandClock
):
    class Forgetful(WatchedRecords):
        """Writes, and then says what a store says that is asked the same again."""

        async def add(self, record: Record) -> bool:
            await super().add(record)
            return False

    async with engine() as opened:
        signed = links_on(opened, clock, Forgetful(opened))
        minted = signed.mint("hook", "a", "r-1", name="go")
        assert await signed.spend(minted.link, nothing) == "done"
        assert (await refused(signed, minted.token)).code == "auth.link_used"


async def test_a_hook_of_a_run_that_has_ended_stays_unused(engine: OpenEngine, clock: HandClock):
    async with engine(work=True, definitions=[collects]) as opened:
        await opened.start(collects, id="r-1")
        await received(opened, "r-1")
        signed = links_on(opened, clock)
        minted = signed.mint("hook", "default", "r-1", name="go")
        with pytest.raises(Conflict):
            await deliver(opened, signed, minted.link, "late")
        await signed.open(minted.token, "hook")


async def test_an_approval_link_decides_once(engine: OpenEngine, clock: HandClock):
    async with engine(work=True, definitions=[asks]) as opened:
        run = await opened.start(asks, id="r-1")
        approval = (await soon(opened.approvals.list))[0]
        signed = links_on(opened, clock)
        minted = signed.mint("approval", "default", approval.id)

        async def use(decision: str, by: str) -> None:
            link = await signed.open(minted.token, "approval")
            await signed.spend(link, lambda: opened.approvals.decide(link.target, decision, by=by))

        answers = await asyncio.gather(use("approve", "ann"), use("reject", "bob"), return_exceptions=True)
        winner = answers.index(None)
        assert isinstance(answers[1 - winner], PlaitError)
        assert await run.result() == ("approve ann", "reject bob")[winner]
        assert (await refused(signed, minted.token, "approval")).code == "auth.link_used"


async def test_an_approval_whose_mark_was_lost_is_not_decided_again(engine: OpenEngine, clock: HandClock):
    async with engine(work=True, definitions=[asks]) as opened:
        run = await opened.start(asks, id="r-1")
        approval = (await soon(opened.approvals.list))[0]
        records = WatchedRecords(opened)
        signed = links_on(opened, clock, records)
        link = signed.mint("approval", "default", approval.id).link
        records.fail_put["auth.link_used"] = Unavailable("store.away", "the process died here")
        with pytest.raises(Unavailable):
            await signed.spend(link, lambda: opened.approvals.decide(link.target, "approve", by="ann"))
        assert await run.result() == "approve ann"
        with pytest.raises(Conflict):
            await signed.spend(link, lambda: opened.approvals.decide(link.target, "reject", by="ann"))


async def test_of_uses_at_once_in_two_processes_on_postgresql_one_counts(postgres_url: str, clock: HandClock):
    async with (
        Engine(postgres_url, definitions=[collects]) as one,
        Engine(postgres_url, work=False) as two,
    ):
        await one.start(collects, id="r-1")
        here, there = links_on(one, clock), links_on(two, clock)
        link = here.mint("hook", "default", "r-1", name="go").link
        answers = await asyncio.gather(
            *(deliver(one, here, link, 1) for _ in range(4)),
            *(deliver(two, there, link, 2) for _ in range(4)),
            return_exceptions=True,
        )
        assert sum(answer == link.id for answer in answers) == 1
        assert len(await received(one, "r-1")) == 1
