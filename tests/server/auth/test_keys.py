"""API keys: what is kept of them, whom they let in, and how they end."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plait.errors import InvalidInput, NotFound, PlaitError, Unavailable
from plait.server.auth.errors import InvalidCredential
from plait.server.auth.keys import ROLES, USE_NOTED, Keys
from plait.server.auth.ttl_cache import SECONDS
from tests.support.effort import examples

from .conftest import OpenEngine
from .support import HandClock, WatchedRecords, use_steadily


async def refusal(keys: Keys, text: str) -> InvalidCredential:
    with pytest.raises(InvalidCredential) as refused:
        await keys.verify(text)
    return refused.value


async def test_a_key_lets_its_holder_in_with_its_role_and_namespace(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        made, text = await keys.create("ci", "operator", "team-a")
        found = await keys.verify(text)
    assert found == made
    assert (found.name, found.role, found.namespace) == ("ci", "operator", "team-a")


async def test_the_secret_of_a_key_has_at_least_160_bits_and_is_nowhere_on_disk(
    engine: OpenEngine, clock: HandClock, tmp_path: Path
):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        _, text = await keys.create("ci", "admin")
        await keys.verify(text)
        secret = text.split("_", 2)[2]
        on_disk = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert len(secret) * 6 >= 160  # URL-safe base64: 6 bits a letter
    assert b"auth.key" in on_disk
    assert secret.encode() not in on_disk


async def test_unknown_malformed_and_revoked_keys_are_refused_in_the_same_words(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        key, text = await keys.create("ci", "viewer")
        unknown = text.replace(key.id, "0" * 18)
        wrong = text[:-1] + ("A" if text[-1] != "A" else "B")
        shapes = ["", "plait_", "plait__", text[:-1], text + "A", text.upper(), f" {text}", text + "\n", "é" * 40]
        refusals = [await refusal(keys, each) for each in (unknown, wrong, *shapes)]
        await keys.verify(text)
        await keys.revoke(key.id)
        refusals.append(await refusal(keys, text))
    assert {str(error) for error in refusals} == {str(refusals[0])}
    assert {(error.code, error.status) for error in refusals} == {("auth.bad_key", 401)}
    assert all("Bearer" in error.headers["www-authenticate"] for error in refusals)


async def test_an_expired_key_is_told_so_only_to_who_has_its_secret(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        _, text = await keys.create("ci", "viewer", expires_in=60)
        await keys.verify(text)
        clock.forward(60)
        assert (await refusal(keys, text)).code == "auth.expired"
        assert (await refusal(keys, text[:-4] + "AAAA")).code == "auth.bad_key"


async def test_a_cached_key_expires_on_time(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        _, text = await keys.create("ci", "viewer", expires_in=1)
        await keys.verify(text)
        clock.forward(1)
        assert (await refusal(keys, text)).code == "auth.expired"


async def test_a_wrong_secret_costs_the_same_look_as_an_unknown_id_even_while_the_key_is_in_use(
    engine: OpenEngine, clock: HandClock
):
    async with engine() as opened:
        records = WatchedRecords(opened)
        keys = Keys(records, clock)
        key, text = await keys.create("ci", "viewer")
        await keys.verify(text)
        for wrong in (text[:-4] + "AAAA", text.replace(key.id, "0" * 18)):
            records.gets.clear()
            await refusal(keys, wrong)
            assert len(records.gets) == 1
        records.gets.clear()
        await keys.verify(text)
        assert records.gets == []


async def test_a_revocation_reaches_another_process_within_seconds(engine: OpenEngine, clock: HandClock):
    async with engine() as one, engine() as other:
        here, there = Keys(one.records, clock), Keys(other.records, clock)
        key, text = await here.create("ci", "viewer")
        await there.verify(text)
        await here.revoke(key.id)
        assert (await refusal(here, text)).code == "auth.bad_key"
        clock.forward(SECONDS)
        assert (await refusal(there, text)).code == "auth.bad_key"


async def test_a_key_in_steady_use_is_looked_up_again_all_the_same(engine: OpenEngine, clock: HandClock):
    async with engine() as one, engine() as other:
        here, there = Keys(one.records, clock), Keys(other.records, clock)
        key, text = await here.create("ci", "viewer")
        await there.verify(text)
        await here.revoke(key.id)
        with pytest.raises(InvalidCredential):
            await use_steadily(clock, lambda: there.verify(text))


async def test_noting_a_use_never_undoes_a_revocation(engine: OpenEngine, clock: HandClock):
    async with engine() as one, engine() as other:
        here, there = Keys(one.records, clock), Keys(other.records, clock)
        key, text = await here.create("ci", "viewer")
        await there.verify(text)
        await here.revoke(key.id)
        await there.verify(text)  # from its cache
        clock.forward(USE_NOTED / 1000)
        await refusal(there, text)
        assert (await here.list())[0].revoked_at is not None


async def test_the_last_use_is_kept_and_written_rarely(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        records = WatchedRecords(opened)
        keys = Keys(records, clock)
        _, text = await keys.create("ci", "viewer")
        assert (await keys.list())[0].last_used_at is None
        records.puts.clear()
        for _ in range(50):
            clock.forward(1)
            await keys.verify(text)
        assert len(records.puts) == 1
        first = (await keys.list())[0].last_used_at
        clock.forward(USE_NOTED / 1000)
        await keys.verify(text)
        assert len(records.puts) == 2
        last = (await keys.list())[0].last_used_at
    assert first is not None
    assert last is not None
    assert last >= first + USE_NOTED


async def test_a_good_key_is_good_when_its_use_cannot_be_noted(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        records = WatchedRecords(opened)
        keys = Keys(records, clock)
        key, text = await keys.create("ci", "viewer")
        records.fail_put["auth.key_use"] = Unavailable("store.full", "the disk is full")
        assert (await keys.verify(text)).id == key.id


async def test_an_admin_of_one_namespace_neither_sees_nor_revokes_keys_of_another(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        foreign, text = await keys.create("theirs", "viewer", "team-b")
        everywhere, _ = await keys.create("all", "viewer", "*")
        own, _ = await keys.create("ours", "viewer", "team-a")
        assert [key.id for key in await keys.list("team-a")] == [own.id]
        assert {key.id for key in await keys.list()} == {foreign.id, everywhere.id, own.id}
        said: list[str] = []
        for id in (foreign.id, everywhere.id, "0" * 18):
            with pytest.raises(NotFound) as missing:
                await keys.revoke(id, "team-a")
            said.append(str(missing.value).replace(id, "ID"))
        assert len(set(said)) == 1
        await keys.verify(text)


async def test_keys_are_listed_newest_first_beyond_one_page(
    engine: OpenEngine, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("plait.server.auth.keys._PAGE", 3)
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        for number in range(7):
            await keys.create(f"k{number}", "viewer")
            clock.forward(1)
        assert [key.name for key in await keys.list()] == [f"k{number}" for number in reversed(range(7))]


async def test_keys_made_at_once_are_all_different(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        made = await asyncio.gather(*(keys.create("ci", "viewer") for _ in range(50)))
        assert len({key.id for key, _ in made}) == 50
        for _, text in made:
            await keys.verify(text)


async def test_two_keys_of_the_same_moment_that_draw_the_same_id_stay_two(
    engine: OpenEngine, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    drawn = iter(["aaaaaa", "aaaaaa", "bbbbbb"])
    monkeypatch.setattr("plait.server.auth.keys.secrets.token_hex", lambda _: next(drawn))
    monkeypatch.setattr(clock, "now", lambda: 1_800_000_000_000)
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        for name in ("first", "second"):
            _, text = await keys.create(name, "viewer")
            assert (await keys.verify(text)).name == name
        assert len(await keys.list()) == 2


async def test_revoking_twice_keeps_the_first_time(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        key, _ = await keys.create("ci", "viewer")
        first = await keys.revoke(key.id)
        clock.forward(5)
        assert await keys.revoke(key.id) == first


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"name": ""}, "auth.bad_key_name"),
        ({"name": "a\0b"}, "value.bad_text"),
        ({"name": "x" * 101}, "value.bad_text"),
        ({"role": "root"}, "auth.bad_role"),
        ({"namespace": "Not Good"}, "kernel.bad_namespace"),
        ({"namespace": ""}, "kernel.bad_namespace"),
        ({"expires_in": 0}, "auth.bad_expiry"),
        ({"expires_in": -5}, "auth.bad_expiry"),
        ({"expires_in": float("nan")}, "auth.bad_expiry"),
        ({"expires_in": 1e12}, "auth.bad_expiry"),
    ],
)
async def test_a_key_that_makes_no_sense_is_not_made(
    engine: OpenEngine, clock: HandClock, options: dict[str, Any], code: str
):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        with pytest.raises(InvalidInput) as refused:
            await keys.create(**{"name": "ci", "role": "viewer", **options})
        assert refused.value.code == code
        assert await keys.list() == []


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_a_key_with_any_bit_flipped_is_refused(engine: OpenEngine, clock: HandClock, data: st.DataObject):
    async with engine() as opened:
        keys = Keys(opened.records, clock)
        _, text = await keys.create("ci", "admin")
        at = data.draw(st.integers(0, len(text) - 1))
        bit = data.draw(st.integers(0, 7))
        flipped = text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]
        with pytest.raises(PlaitError) as refused:
            await keys.verify(flipped)
        assert refused.value.code == "auth.bad_key"


def test_every_role_can_be_given_to_a_key():
    assert set(ROLES) == {"viewer", "operator", "editor", "approver", "worker", "agent", "admin"}


async def test_a_key_looks_as_documented(engine: OpenEngine, clock: HandClock):
    async with engine() as opened:
        key, text = await Keys(opened.records, clock).create("ci", "viewer")
    assert re.fullmatch(rf"plait_{key.id}_[A-Za-z0-9_-]+", text)
