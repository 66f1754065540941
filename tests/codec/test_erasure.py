"""`erase`: what one subject's runs held can't be read any more, anywhere; all else can."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from plait import Engine, Handle
from plait.errors import Conflict, Erased, InvalidInput
from plait.kernel.ids import RunId
from plait.kernel.store import RunFilter
from tests.codec.flows import echo, everywhere, failing, listener, parent
from tests.codec.places import MARKER, Sealed
from tests.engine.places import soon, until

ANNA, BERT = "customer:42", "customer:43"


async def start_two(engine: Engine) -> None:
    for id, subject in (("anna", ANNA), ("bert", BERT)):
        assert await (await engine.start(echo, MARKER, id=id, subject=subject)).result() == MARKER


async def test_the_values_of_one_subject_are_gone_and_those_of_others_are_not(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await start_two(engine)
        receipt = await engine.erase(ANNA, by="dpo")
        assert (receipt.subject, receipt.by, receipt.runs, receipt.run_ids) == (ANNA, "dpo", 1, ["anna"])
        assert len(receipt.keys) == 1
        await _check(engine)
    async with sealed.engine(echo) as engine:
        await _check(engine)


async def _check(engine: Engine) -> None:
    anna, bert = await engine.get("anna"), await engine.get("bert")
    assert await bert.result() == MARKER
    row = await anna.row()
    assert (row.status, row.erased_at is None, row.output) == ("completed", False, None)
    assert {row.id for row in await engine.runs()} == {"anna", "bert"}
    assert [row.id for row in await engine.runs(RunFilter(labels={"subject": ANNA}))] == ["anna"]
    picture = await anna.picture()
    assert (picture.input, picture.output, picture.view.nodes, picture.actions) == (None, None, [], [])
    asked: list[Callable[[], Awaitable[Any]]] = [
        anna.result,
        anna.events,
        anna.fork,
        anna.cancel,
        anna.retry,
        anna.rewind,
        anna.compensate,
        lambda: anna.message("go"),
        lambda: anna.patch([]),
    ]
    for ask in asked:
        with pytest.raises(Erased) as caught:
            await ask()
        assert caught.value.code == "codec.erased"
        assert caught.value.at == row.erased_at


async def test_everything_that_a_run_keeps_beside_its_log_is_erased_too(sealed: Sealed):
    async with sealed.engine(everywhere, failing, echo) as engine:
        run = await engine.start(everywhere, MARKER, id="everywhere", subject=ANNA)
        await run.message("news", MARKER)
        [asked] = await soon(lambda: engine.approvals.list())
        await engine.approvals.decide(asked.id, "approve", by="boss", comment=MARKER)
        await run.result()
        await soon(run.logs)
        failed = await engine.start(failing, MARKER, id="failing", subject=ANNA)
        with pytest.raises(Exception, match=MARKER):
            await failed.result()
        receipt = await engine.erase(ANNA)
        assert receipt.runs == 3  # the child that held the large value is one of them
        store = engine.kernel.store
        found = [
            await engine.approvals.list(status="all"),
            await engine.dlq.list(all=True),
            await run.logs(),
            await engine.runs(),
            await store.approval(asked.id),
        ]
        assert MARKER not in str(found)
        assert [line.text for line in await run.logs()] == ["these values were erased"]
        with pytest.raises(Erased):
            await store.log(RunId("everywhere"))


async def test_erasing_again_gives_the_same_receipt(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await start_two(engine)
        first = await engine.erase(ANNA, by="dpo")
        assert await engine.erase(ANNA, by="another") == first
        assert await engine.encryption.receipt("default", ANNA) == first
        assert await engine.encryption.receipts("default") == [first]
        assert await engine.encryption.receipts("default", after=ANNA) == []
    async with sealed.engine(echo) as engine:
        assert await engine.erase(ANNA) == first


async def test_two_who_erase_at_once_get_the_same_receipt(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await start_two(engine)
        first, second = await asyncio.gather(engine.erase(ANNA, by="a"), engine.erase(ANNA, by="b"))
        assert first == second


async def test_a_subject_without_runs_gets_a_receipt_and_never_a_run(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        receipt = await engine.erase(ANNA)
        assert (receipt.runs, receipt.keys) == (0, [])
        with pytest.raises(Erased, match="can't have new runs"):
            await engine.start(echo, 1, subject=ANNA)
        with pytest.raises(Erased):
            await engine.start(echo, 1, labels={"subject": ANNA})


async def test_the_same_subject_of_another_namespace_is_another(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await start_two(engine)
        other = await engine.start(echo, MARKER, id="anna", subject=ANNA, namespace="acme")
        await other.result()
        await engine.erase(ANNA)
        assert await other.result() == MARKER


async def test_runs_that_have_not_ended_are_a_reason_to_refuse(sealed: Sealed):
    async with sealed.engine(listener) as engine:
        run = await engine.start(listener, MARKER, id="waits", subject=ANNA)
        with pytest.raises(Conflict, match="have not ended: waits") as caught:
            await engine.erase(ANNA)
        assert caught.value.code == "codec.subject_live"
        await run.message("go", 1)
        assert await run.result() == [MARKER, 1]


async def test_runs_that_have_not_ended_are_cancelled_if_asked_for(sealed: Sealed):
    async with sealed.engine(listener) as engine:
        run = await engine.start(listener, MARKER, id="waits", subject=ANNA)
        await soon(run.waiting)
        receipt = await engine.erase(ANNA, cancel=True)
        assert receipt.run_ids == ["waits"]
        row = await run.row()
        assert (row.status, row.erased_at) == ("cancelled", receipt.at)


async def test_children_and_forks_belong_to_the_subject(sealed: Sealed):
    async with sealed.engine(parent, echo) as engine:
        run = await engine.start(parent, MARKER, id="mother", subject=ANNA)
        await run.result()
        fork: Handle[Any] = await run.fork(1, id="fork")
        await fork.result()
        [child] = await engine.runs(RunFilter(parent=RunId("mother")))
        assert child.labels == {"subject": ANNA}
        receipt = await engine.erase(ANNA)
        assert set(receipt.run_ids) >= {"mother", child.id, "fork"}
        for id in ("mother", child.id, "fork"):
            with pytest.raises(Erased):
                await (await engine.get(id)).result()


async def test_a_run_of_the_same_id_can_not_be_started_again(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await start_two(engine)
        await engine.erase(ANNA)
        with pytest.raises(Erased):
            await engine.start(echo, MARKER, id="anna", subject=ANNA)


async def test_equal_large_values_of_two_subjects_are_erased_apart(sealed: Sealed):
    large = [MARKER] * 5_000
    async with sealed.engine(echo) as engine:
        for id, subject in (("anna", ANNA), ("bert", BERT)):
            await (await engine.start(echo, large, id=id, subject=subject)).result()
        await engine.erase(ANNA)
        assert await (await engine.get("bert")).result() == large


async def test_a_subject_that_is_no_name_is_refused(on_disk: Sealed):
    async with on_disk.engine(echo) as engine:
        for bad in ("", " ", "x" * 201, "\0"):
            with pytest.raises(InvalidInput):
                await engine.start(echo, 1, subject=bad)
            with pytest.raises(InvalidInput):
                await engine.erase(bad)


async def test_without_encryption_a_subject_is_a_label_and_can_not_be_erased(on_disk: Sealed):
    async with on_disk.plain(echo) as engine:
        run = await engine.start(echo, 1, subject=ANNA)
        assert (await run.row()).labels == {"subject": ANNA}
        with pytest.raises(Conflict) as caught:
            await engine.erase(ANNA)
        assert caught.value.code == "codec.off"


async def test_the_wrapped_key_is_gone_from_the_files(on_disk: Sealed, file: Path):
    """Else whoever has the master key could restore it from a freed page or the journal."""
    async with on_disk.engine(echo) as engine:
        await start_two(engine)
        key = (await engine.encryption.keys()).keys
        [anna] = [each.id for each in key if each.subject == ANNA]
        record = await engine.kernel.store.record("codec.key", "", anna)
        assert record is not None
        wrapped = bytes(record.body).split(b'"wrapped":"')[1].split(b'"')[0]
        assert wrapped in _files(file)
        await engine.erase(ANNA)
        assert wrapped not in _files(file)


def _files(file: Path) -> bytes:
    return b"".join(part.read_bytes() for part in file.parent.glob(f"{file.name}*") if not part.name.endswith("-shm"))


async def test_another_engine_on_the_same_database_forgets_what_it_had_in_memory(postgres_url: str):
    """Keys, and runs that wait in its memory: started there, erased here."""
    sealed = Sealed(postgres_url)
    async with sealed.engine(echo, listener) as owner:
        await start_two(owner)
        assert await (await owner.get("anna")).result() == MARKER
        async with sealed.engine(echo, work=False) as other:
            await other.erase(ANNA)

            async def forgotten() -> bool:
                try:
                    await owner.kernel.store.log(RunId("anna"))
                except Erased:
                    return True
                return False

            await soon(forgotten)
            with pytest.raises(Erased):
                await owner.start(echo, 1, subject=ANNA)
            assert await (await owner.get("bert")).result() == MARKER


async def test_a_run_that_is_live_elsewhere_when_its_key_goes_is_dropped_from_memory(postgres_url: str):
    sealed = Sealed(postgres_url)
    async with sealed.engine(listener) as owner:
        run = await owner.start(listener, MARKER, id="waits", subject=ANNA)
        await soon(run.waiting)
        async with sealed.engine(work=False) as other:
            from plait.codec.erasure import Erasure  # what a start that raced with an erasure leaves behind

            door = other.encryption._needed()  # pyright: ignore[reportPrivateUsage]
            await Erasure(door.inner, other.kernel.clock).erase("default", ANNA, "")
        await until(lambda: RunId("waits") not in owner.kernel.run_cache.live)
        row = await run.row()
        assert row.phase == "blocked"
        assert row.blocked is not None
        assert row.blocked.code == "codec.erased"
