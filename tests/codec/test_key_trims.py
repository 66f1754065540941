"""The key of a single run goes some time after the last run that needs it, and never before."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait import Engine
from plait.api.retention import RetentionRules
from plait.codec import key_trims
from plait.codec.key_records import UNUSED
from plait.codec.key_trims import KeyTrims
from plait.codec.scope import Scope
from plait.engine.archived_store import with_archived
from plait.engine.urls import store_of
from plait.kernel.clock import SystemClock
from plait.kernel.ids import Millis
from tests.codec.flows import echo, listener
from tests.codec.places import MARKER, Sealed

OWN = "run:a"
AT_ONCE = RetentionRules(completed=Millis(0))


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_trims, "WAIT", Millis(0))


async def ran(engine: Engine) -> None:
    handle = await engine.start(echo, MARKER, id="a", pii_fields=["email"])
    assert await handle.result() == MARKER


async def subjects(engine: Engine) -> list[str | None]:
    return [key.subject for key in (await engine.encryption.keys()).keys if key.subject is not None]


async def noted(engine: Engine) -> int:
    return len(await engine.kernel.store.records(UNUSED, None, None, 10))


async def test_a_key_of_one_run_goes_with_the_last_run_that_needs_it(sealed: Sealed):
    async with sealed.engine(echo, listener) as engine:
        await engine.retention.set(AT_ONCE)
        await ran(engine)
        other = await engine.start(listener, "Bert", id="other", subject=OWN)
        await engine.start(listener, "Bert", id="newest", subject="customer:42")
        assert await engine.retention.apply() == 1
        assert sorted(map(str, await subjects(engine))) == ["customer:42", OWN]
        await other.message("go", MARKER)
        await other.result()
        assert await engine.retention.apply() == 1
        assert await subjects(engine) == ["customer:42"]
        assert await noted(engine) == 0


async def test_nothing_goes_before_an_hour_is_over(sealed: Sealed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(key_trims, "WAIT", Millis(3_600_000))
    async with sealed.engine(echo, listener) as engine:
        await engine.retention.set(AT_ONCE)
        await ran(engine)
        await engine.start(listener, "Bert", id="newest")
        assert await engine.retention.apply() == 1
        assert await subjects(engine) == [OWN]
        assert await noted(engine) == 1


async def test_a_new_run_with_the_id_of_a_removed_one_can_be_read(sealed: Sealed):
    async with sealed.engine(echo, listener) as engine:
        await engine.retention.set(AT_ONCE)
        await ran(engine)
        await engine.start(listener, "Bert", id="newest")
        await engine.retention.apply()
        assert await subjects(engine) == []
        await ran(engine)
    async with sealed.engine(echo, listener) as engine:
        assert await (await engine.get("a")).result() == MARKER


async def test_a_run_that_starts_as_its_key_is_about_to_go_keeps_it(sealed: Sealed, monkeypatch: pytest.MonkeyPatch):
    async with sealed.engine(echo, listener) as engine:
        await engine.retention.set(AT_ONCE)
        await ran(engine)
        await engine.start(listener, "Bert", id="newest")
        look = KeyTrims._has_runs

        async def looked_too_early(self: KeyTrims, scope: Scope) -> bool:
            found = await look(self, scope)
            assert not found
            await ran(engine)
            return found

        monkeypatch.setattr(KeyTrims, "_has_runs", looked_too_early)
        assert await engine.retention.apply() == 1
        assert await subjects(engine) == [OWN]
        assert await noted(engine) == 0
    async with sealed.engine(echo, listener) as engine:
        assert await (await engine.get("a")).result() == MARKER


async def test_the_key_of_an_archived_run_stays(sealed: Sealed, tmp_path: Path):
    async with sealed.engine(echo, listener, archive=str(tmp_path / "archive")) as engine:
        await engine.retention.set(RetentionRules(completed=Millis(0), archive=True))
        await ran(engine)
        other = await engine.start(listener, "Bert", id="other", subject=OWN)
        await engine.start(listener, "Bert", id="newest")
        assert await engine.retention.apply() == 1
        await engine.retention.set(AT_ONCE)
        await other.message("go", MARKER)
        await other.result()
        assert await engine.retention.apply() == 1
        assert await subjects(engine) == [OWN]
        archive = engine.retention.archive
        assert archive is not None
    store = await with_archived(store_of(sealed.url, SystemClock()), archive, "default", "a")
    assert store is not None
    async with Engine(store=store, definitions=[echo, listener], encryption=sealed.keys, work=False) as engine:
        assert await (await engine.get("a")).result() == MARKER


async def test_the_receipt_of_an_erased_run_stays(sealed: Sealed):
    async with sealed.engine(echo, listener) as engine:
        await engine.retention.set(AT_ONCE)
        await ran(engine)
        await engine.start(listener, "Bert", id="newest")
        receipt = await engine.erase(OWN, by="dpo")
        assert await engine.retention.apply() == 1
        assert await engine.encryption.receipt("default", OWN) == receipt
        assert await noted(engine) == 0
