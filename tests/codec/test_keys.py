"""Keys: configured, rotated, missing, wrong; and ciphertext that was changed or moved."""

from pathlib import Path

import apsw
import pytest

from plait import Engine
from plait.codec.cipher import DataKey, Unopenable, is_sealed, key_id_of, new_key_id, unpacked
from plait.codec.key_ring import configured_ring, new_master_key
from plait.codec.scope import Scope
from plait.errors import Damaged, InvalidInput, PlaitError
from plait.kernel.ids import RunId
from plait.kernel.store import RunFilter
from tests.codec.flows import echo
from tests.codec.places import MARKER, MASTER, Sealed, ring

# -- the cipher --------------------------------------------------------------------------------------------------------


def data_key() -> DataKey:
    return DataKey(new_key_id(), b"k" * 32, Scope("default"))


def test_what_was_sealed_for_a_place_can_be_opened_there_and_nowhere_else():
    key = data_key()
    text = key.seal_text("run:a", "log:1:1", MARKER.encode())
    assert is_sealed(text)
    assert MARKER not in text
    sealed = unpacked(text)
    assert key_id_of(sealed) == key.id
    assert key.open("run:a", "log:1:1", sealed) == MARKER.encode()
    for owner, place in (("run:b", "log:1:1"), ("run:a", "log:2:1")):
        with pytest.raises(Unopenable):
            key.open(owner, place, sealed)


def test_the_same_value_is_never_sealed_alike():
    key = data_key()
    assert key.seal("run:a", "output", b"x") != key.seal("run:a", "output", b"x")


@pytest.mark.parametrize("text", ["~sealed1~", "~sealed1~AAAA", "~sealed1~not base64!"])
def test_what_is_no_ciphertext_is_refused(text: str):
    with pytest.raises(Unopenable):
        unpacked(text)


# -- configuration -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "why"),
    [("x", "not base64"), ("AAAA", "has 3 bytes"), (" , ", "is empty"), ("# nothing", "is empty")],
)
def test_a_key_that_can_not_be_used_is_refused(given: str, why: str):
    with pytest.raises(InvalidInput, match=why) as caught:
        configured_ring({"PLAIT_ENCRYPTION_KEY": given})
    assert caught.value.code == "codec.bad_key"


def test_a_key_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(InvalidInput, match=r"no\.key"):
        configured_ring({"PLAIT_ENCRYPTION_KEY_FILE": str(tmp_path / "no.key")})


def test_without_configuration_encryption_is_off():
    assert configured_ring({}) is None
    assert configured_ring({"PLAIT_ENCRYPTION_KEY": ""}) is None


async def test_a_ring_of_several_keys_wraps_with_the_first_and_opens_what_the_others_wrapped():
    old, new = new_master_key(), new_master_key()
    before, after = ring(old), ring(new, old)
    wrapped = await before.wrap(b"secret", "key:1")
    assert after.current != before.current
    assert await after.unwrap(before.current, wrapped, "key:1") == b"secret"
    with pytest.raises(PlaitError):
        await after.unwrap(before.current, wrapped, "key:2")


# -- rotation ----------------------------------------------------------------------------------------------------------


async def key_ids(engine: Engine) -> list[str]:
    return [key.id for key in (await engine.encryption.keys("default")).keys if key.subject is None]


async def test_after_a_rotation_new_values_have_a_new_key_and_old_ones_stay_readable(sealed: Sealed):
    async with sealed.engine(echo) as engine:
        await (await engine.start(echo, "old", id="old")).result()
        made = await engine.encryption.rotate()
        await (await engine.start(echo, "new", id="new")).result()
        assert made.key in await key_ids(engine)
        assert [await _key_of(engine, id) == made.key for id in ("old", "new")] == [False, True]
    async with sealed.engine(echo) as engine:
        assert await (await engine.get("old")).result() == "old"
        assert await (await engine.get("new")).result() == "new"
        assert await _key_of(engine, "new") == made.key


async def _key_of(engine: Engine, run_id: str) -> str:
    """The id in the ciphertext of its first events."""
    door = engine.kernel.store
    [row, *_] = await door.inner.log(RunId(run_id))  # type: ignore[attr-defined]
    return key_id_of(unpacked(row.events)).hex()


async def test_another_engine_uses_the_new_key_without_a_restart(postgres_url: str):
    from tests.engine.places import soon

    sealed = Sealed(postgres_url)
    async with sealed.engine(echo) as owner, sealed.engine(work=False) as other:
        await (await owner.start(echo, 1)).result()
        made = await other.encryption.rotate()

        async def noticed() -> bool:
            run = await owner.start(echo, 1)
            await run.result()
            return await _key_of(owner, run.id) == made.key

        await soon(noticed)


async def test_a_new_master_key_takes_over_and_the_old_one_can_go(sealed: Sealed):
    new = new_master_key()
    async with sealed.engine(echo) as engine:
        await (await engine.start(echo, MARKER, id="r-1", subject="customer:42")).result()
    async with Sealed(sealed.url, ring(new, MASTER)).engine(echo) as engine:
        assert (await engine.encryption.rotate()).rewrapped > 0
    async with Sealed(sealed.url, ring(new)).engine(echo) as engine:
        assert await (await engine.get("r-1")).result() == MARKER
    with pytest.raises(PlaitError) as caught:
        async with sealed.engine(echo):
            pass
    assert caught.value.code == "codec.wrong_key"


async def test_rotation_without_encryption_says_that_it_is_off(on_disk: Sealed):
    async with on_disk.plain(echo) as engine:
        with pytest.raises(PlaitError) as caught:
            await engine.encryption.rotate()
        assert caught.value.code == "codec.off"


# -- damage ------------------------------------------------------------------------------------------------------------


def change(file: Path, statement: str) -> None:
    db = apsw.Connection(str(file))
    db.execute(statement)
    db.close()


async def leave_two(on_disk: Sealed) -> None:
    async with on_disk.engine(echo) as engine:
        for id in ("a", "b"):
            await (await engine.start(echo, MARKER, id=id)).result()


async def test_the_row_of_another_run_is_refused_as_damage(on_disk: Sealed, file: Path):
    await leave_two(on_disk)
    swap = "update log set checksum = null, events = (select events from log as l where l.run <> log.run and l.seq = 1)"
    change(file, f"{swap} where seq = 1")
    async with on_disk.engine(echo) as engine:
        with pytest.raises(Damaged, match="can't be decrypted") as caught:
            await (await engine.get("a")).events()
        assert caught.value.code == "store.damaged"


async def test_ciphertext_that_was_changed_is_damage_and_lists_still_work(on_disk: Sealed, file: Path):
    await leave_two(on_disk)
    change(file, "update runs set output = substr(output, 1, length(output) - 8) || 'AAAAAAA=' where id = 'a'")
    async with on_disk.engine(echo) as engine:
        rows = {str(row.id): row for row in await engine.runs(RunFilter())}
        assert rows["a"].output is None
        assert rows["a"].erased_at is None
        assert rows["b"].output is not None


async def test_a_key_that_is_missing_is_named(on_disk: Sealed, file: Path):
    await leave_two(on_disk)
    change(file, "delete from records where kind = 'codec.key'")
    async with on_disk.engine(echo) as engine:
        assert len(await engine.runs()) == 2
        with pytest.raises(PlaitError, match="is not in this database") as caught:
            await (await engine.get("a")).events()
        assert caught.value.code == "codec.key_missing"


async def test_a_checksum_is_that_of_the_ciphertext(on_disk: Sealed, file: Path):
    """So damage is found without any key."""
    await leave_two(on_disk)
    change(file, "update log set events = replace(events, 'A', 'B') where seq = 1")
    async with on_disk.engine(echo) as engine:
        with pytest.raises(Damaged, match="does not fit its checksum"):
            await (await engine.get("a")).events()
