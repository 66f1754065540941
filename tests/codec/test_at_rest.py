"""With encryption on, no value is on the disk; everything above the store works as without it."""

from pathlib import Path

import pytest

from plait import Engine
from plait.errors import PlaitError, RunFailed
from plait.kernel.store import RunFilter
from tests.codec.flows import echo, everywhere, failing
from tests.codec.places import MARKER, Sealed, files, ring
from tests.engine.places import soon
from tests.support.postgres import dump


async def fill(engine: Engine) -> None:
    """Puts the marker wherever a run keeps values."""
    run = await engine.start(everywhere, MARKER, id="everywhere")
    await run.message("news", {"name": MARKER})
    [asked] = await soon(lambda: engine.approvals.list())
    assert MARKER in asked.title
    await engine.approvals.decide(asked.id, "approve", by="boss", comment=f"I know {MARKER}")
    assert await run.result() == {
        "said": f"hello {MARKER}",
        "large": 5_000,
        "news": {"name": MARKER},
        "why": f"I know {MARKER}",
    }
    failed = await engine.start(failing, MARKER, id="failing")
    with pytest.raises(RunFailed, match=MARKER):
        await failed.result()
    waiting = await engine.start(everywhere, MARKER, id="waiting")
    await soon(waiting.waiting)


async def test_no_value_is_in_the_files_of_sqlite(on_disk: Sealed, file: Path):
    async with on_disk.engine(everywhere, failing, echo) as engine:
        await fill(engine)
        assert MARKER.encode() not in files(file)
    assert MARKER.encode() not in files(file)


async def test_without_encryption_the_same_value_is_found(on_disk: Sealed, file: Path):
    async with on_disk.plain(everywhere, failing, echo) as engine:
        await fill(engine)
        assert MARKER.encode() in files(file)


async def test_no_value_is_in_a_dump_of_postgresql(postgres_url: str):
    async with Sealed(postgres_url).engine(everywhere, failing, echo) as engine:
        await fill(engine)
    dumped = dump(postgres_url)
    assert "everywhere" in dumped
    assert MARKER not in dumped


async def test_another_engine_reads_all_of_it(sealed: Sealed):
    async with sealed.engine(everywhere, failing, echo) as engine:
        await fill(engine)
    async with sealed.engine(everywhere, failing, echo) as engine:
        run = await engine.get("everywhere")
        assert (await run.result())["said"] == f"hello {MARKER}"
        assert MARKER in str(await run.events())
        assert [line.text for line in await run.logs()] == [f"hello {MARKER}"]
        failed = await (await engine.get("failing")).row()
        assert failed.error is not None
        assert MARKER in failed.error.message
        assert [letter.error.message for letter in await engine.dlq.list()] == [f"{MARKER} is not known"]
        waiting = await engine.get("waiting")
        await waiting.message("news", "late")
        assert await soon(lambda: engine.approvals.list(run_id="waiting"))


async def test_a_text_search_finds_no_values_but_names_labels_and_codes(sealed: Sealed):
    async with sealed.engine(failing) as engine:
        run = await engine.start(failing, MARKER, id="r-1", labels={"shop": "north"})
        with pytest.raises(RunFailed):
            await run.result()
        assert await engine.runs(RunFilter(text=MARKER)) == []
        for known in ("r-1", "failing", "north"):
            assert [row.id for row in await engine.runs(RunFilter(text=known))] == ["r-1"]


async def test_an_engine_without_keys_is_refused(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await (await engine.start(echo, 1, id="r-1")).result()
    with pytest.raises(PlaitError, match="no encryption key is configured") as caught:
        async with sealed.plain(echo):
            pass
    assert caught.value.code == "codec.key_missing"


async def test_an_engine_with_another_key_is_refused(sealed: Sealed):
    async with sealed.engine(echo):
        pass
    other = Sealed(sealed.url, ring("A" * 43 + "="))
    with pytest.raises(PlaitError, match="encrypted with another key") as caught:
        async with other.engine(echo):
            pass
    assert caught.value.code == "codec.wrong_key"


async def test_what_was_there_before_encryption_stays_readable_and_what_comes_is_encrypted(sealed: Sealed):
    async with sealed.plain(echo, everywhere) as engine:
        await (await engine.start(echo, "before", id="ended")).result()
        await soon((await engine.start(everywhere, "before", id="waiting")).waiting)
    async with sealed.engine(echo, everywhere) as engine:
        assert await (await engine.get("ended")).result() == "before"
        waiting = await engine.get("waiting")
        await waiting.message("news", "after")
        [asked] = await soon(lambda: engine.approvals.list())
        await engine.approvals.decide(asked.id, "approve", by="boss")
        assert (await waiting.result())["news"] == "after"
        assert (await engine.start(echo, "before", id="ended")).created is False


async def test_the_key_may_come_from_the_environment(
    on_disk: Sealed, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    from plait.codec.key_ring import new_master_key

    kept = tmp_path / "master.key"
    kept.write_text(f"# of the test\n{new_master_key()}\n")
    monkeypatch.setenv("PLAIT_ENCRYPTION_KEY_FILE", str(kept))
    async with Engine(on_disk.url, definitions=[echo]) as engine:
        assert engine.encryption.on
        assert await (await engine.start(echo, MARKER)).result() == MARKER
    assert MARKER.encode() not in files(file)
