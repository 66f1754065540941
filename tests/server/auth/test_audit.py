"""The audit trail: complete for what was done, bounded for what was refused, and without secrets."""

import msgspec
import pytest

from plait import Engine
from plait.api.caller import ANONYMOUS, NOBODY, Caller, stranger
from plait.errors import Unavailable
from plait.server.auth.audit import Audit

from .conftest import OpenEngine, OpenGuard
from .support import HandClock, WatchedRecords

ANN = Caller("ann", "operator", "team-a", "key", "key:1", "192.0.2.1")
ROOT = Caller("root", "admin", "*", "key", "key:2", "192.0.2.2")


def audit_on(engine: Engine, clock: HandClock) -> Audit:
    return Audit(engine.records, clock)


async def test_an_entry_says_who_did_what(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        await audit.record(ANN, "runs.cancel", "order-7", "ok")
        await audit.record(ANN, "keys.create", None, "refused", "auth.forbidden")
        newest, oldest = (await audit.page()).entries
    assert (oldest.who, oldest.role, oldest.namespace, oldest.action) == ("ann", "operator", "team-a", "runs.cancel")
    assert (oldest.target, oldest.outcome, oldest.code) == ("order-7", "ok", None)
    assert (oldest.credential, oldest.address) == ("key:1", "192.0.2.1")
    assert (newest.outcome, newest.code, newest.target) == ("refused", "auth.forbidden", None)
    assert abs(newest.at - clock.now()) < 10_000


async def test_an_entry_is_durable_when_it_is_recorded(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        await audit_on(opened, clock).record(ANN, "runs.start", "r-1", "ok")
        async with engine() as other:  # another process sees it at once
            assert len((await audit_on(other, clock).page()).entries) == 1


async def test_pages_go_from_new_to_old_without_gap_or_repetition(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        for number in range(25):
            await audit.record(ANN, "runs.start", f"r-{number}", "ok")
            clock.forward(0.01)
        seen: list[str | None] = []
        cursor: str | None = None
        while True:
            page = await audit.page(cursor=cursor, limit=10)
            seen += [entry.target for entry in page.entries]
            await audit.record(ANN, "runs.start", "newer", "ok")  # the trail grows while it is read
            if (cursor := page.next) is None:
                break
    assert seen == [f"r-{number}" for number in reversed(range(25))]


async def test_entries_of_one_moment_stay_in_order_even_if_the_clock_is_set_back(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        for number in range(30):
            await audit.record(ANN, "runs.start", f"r-{number}", "ok")
            if number == 15:
                clock.forward(-3600)
        entries = (await audit.page()).entries
    assert [entry.target for entry in entries] == [f"r-{number}" for number in reversed(range(30))]


async def test_a_page_that_holds_all_has_no_next(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        assert await audit.page() == msgspec.convert({"entries": []}, type(await audit.page()))
        for number in range(10):
            await audit.record(ANN, "runs.start", f"r-{number}", "ok")
        assert (await audit.page(limit=10)).next is None
        assert (await audit.page(limit=9)).next is not None


async def test_an_admin_of_one_namespace_reads_that_one_only(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        await audit.record(ANN, "runs.start", "ours", "ok")
        await audit.record(ROOT, "runs.cancel", "theirs", "ok", namespace="team-b")
        await audit.record(ROOT, "runs.cancel", "ours, by root", "ok", namespace="team-a")
        await audit.record(ROOT, "keys.create", "everywhere", "ok")
        await audit.record(stranger("192.0.2.3"), "runs.start", "nobody's", "refused", "auth.bad_key")
        assert {entry.target for entry in (await audit.page("team-a")).entries} == {"ours", "ours, by root"}
        assert len((await audit.page("*")).entries) == 5


async def test_a_caller_cannot_write_into_the_trail_of_another_namespace(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        await audit.record(ANN, "runs.start", "x", "refused", "auth.wrong_namespace", namespace="team-b")
        assert (await audit.page("team-b")).entries == []
        assert len((await audit.page("team-a")).entries) == 1


async def test_a_flood_of_bad_keys_is_bounded_and_counted(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        for number in range(1000):
            await audit.record(stranger(f"2001:db8::{number:x}"), "runs.start", None, "refused", "auth.bad_key")
        assert len((await audit.page(limit=500)).entries) < 150
        clock.forward(60)
        await audit.record(NOBODY, "runs.start", None, "refused", "auth.bad_key")
        entries = (await audit.page(limit=500)).entries
    assert entries[0].missed > 850
    assert sum(1 + entry.missed for entry in entries) == 1001


async def test_a_flood_of_one_caller_hides_neither_others_nor_what_was_done(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        for _ in range(500):
            await audit.record(ANN, "keys.create", None, "refused", "auth.forbidden")
        written = len((await audit.page(limit=1000)).entries)
        assert written < 300
        bob = Caller("bob", "operator", "team-a", "key", "key:3", "192.0.2.4")
        await audit.record(bob, "keys.create", None, "refused", "auth.forbidden")
        await audit.record(ANN, "runs.start", "r-1", "ok")
        done, other = (await audit.page(limit=2)).entries
    assert (done.who, done.outcome) == ("ann", "ok")
    assert other.who == "bob"


@pytest.mark.parametrize("caller", [NOBODY, stranger("192.0.2.3")])
async def test_a_stranger_has_no_role(engine: OpenEngine, clock: HandClock, caller: Caller):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        await audit.record(caller, "runs.start", None, "refused", "auth.bad_key")
        assert (await audit.page()).entries[0].role is None
        await audit.record(ANONYMOUS, "runs.start", None, "ok")
        assert (await audit.page()).entries[0].role == "admin"


async def test_secrets_never_get_into_the_trail(guard: OpenGuard):
    async with guard() as door:
        _, key = await door.keys.create("x", "viewer")
        link = door.links.mint("hook", "a", "r-1", name="go").token
        token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1In0.c2lnbmF0dXJl"
        for secret in (key, link, token):
            caller = Caller(f"named {secret}", "viewer", "a", "key", "key:1")
            await door.audit.record(caller, "hooks.call", f"/hooks/{secret}?x", "refused", "auth.bad_link")
            entry = (await door.audit.page()).entries[0]
            assert secret not in msgspec.json.encode(entry).decode()
            assert entry.target == "/hooks/[secret]?x"


@pytest.mark.parametrize("target", ["a\0b", "\ud800", "x" * 5_000, "<script>alert(1)</script>", ""])
async def test_whatever_a_request_names_can_be_kept(engine: OpenEngine, clock: HandClock, target: str):
    async with engine() as opened:
        audit = audit_on(opened, clock)
        await audit.record(ANN, "runs.start", target, "refused", "kernel.no_run")
        entry = (await audit.page()).entries[0]
    assert entry.target is not None
    assert len(entry.target) <= 300


async def test_an_entry_that_cannot_be_written_is_an_error_and_is_counted(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        records = WatchedRecords(opened)
        audit = Audit(records, clock)
        records.fail_put["auth.audit"] = Unavailable("store.full", "the disk is full")
        with pytest.raises(Unavailable):
            await audit.record(ANN, "runs.start", "r-1", "ok")
        await audit.record(ANN, "runs.start", "r-2", "ok")
        assert (await audit.page()).entries[0].missed == 1
