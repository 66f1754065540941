"""Crashes in the middle of an erasure or a rotation: afterwards it happened or it did not, and can be done again."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from plait import Engine
from plait.codec.key_ring import new_master_key
from plait.errors import Erased
from plait.kernel.store import Write
from plait.stores.memory import MemoryStore, Moment
from tests.codec.flows import echo
from tests.codec.places import MARKER, MASTER, Sealed, ring

SUBJECT = "customer:42"


class Crash(Exception):
    """The process is gone."""


def crash_at(wanted: Moment, kind: str):
    """Fails at one moment of the first commit that holds a record of a kind."""

    def faults(moment: Moment, writes: Sequence[Write]) -> None:
        if moment == wanted and any(change.record.kind == kind for write in writes for change in write.records):
            raise Crash(moment)

    return faults


@pytest.mark.parametrize("moment", ["before", "inside", "after"])
async def test_an_erasure_that_was_cut_off_happened_or_did_not(moment: Moment):
    store, keys = MemoryStore(), ring()
    async with Engine(definitions=[echo], store=store, encryption=keys) as engine:
        await (await engine.start(echo, MARKER, id="r-1", subject=SUBJECT)).result()
        store.faults = crash_at(moment, "codec.receipt")
        with pytest.raises(Crash):
            await engine.erase(SUBJECT, by="first")
        store.faults = None
    async with Engine(definitions=[echo], store=store, encryption=keys) as engine:
        run = await engine.get("r-1")
        if moment == "after":
            with pytest.raises(Erased):
                await run.result()
        else:
            assert await run.result() == MARKER
        receipt = await engine.erase(SUBJECT, by="second")
        assert receipt.by == ("first" if moment == "after" else "second")
        with pytest.raises(Erased):
            await run.result()


@pytest.mark.parametrize("kind", ["codec.key", "codec.state", "codec.scope"])
@pytest.mark.parametrize("moment", ["before", "inside", "after"])
async def test_a_rotation_that_was_cut_off_loses_nothing(moment: Moment, kind: str):
    """At each of its writes: keys that are wrapped anew, the check of the master key, the new data key."""
    store, both = MemoryStore(), ring(new_master_key(), MASTER)
    async with Engine(definitions=[echo], store=store, encryption=ring()) as engine:
        await (await engine.start(echo, MARKER, id="r-1", subject=SUBJECT)).result()
    async with Engine(definitions=[echo], store=store, encryption=both) as engine:
        store.faults = crash_at(moment, kind)
        with pytest.raises(Crash):
            await engine.encryption.rotate()
        store.faults = None
    async with Engine(definitions=[echo], store=store, encryption=both) as engine:
        assert await (await engine.get("r-1")).result() == MARKER
        await engine.encryption.rotate()
        assert await (await engine.start(echo, MARKER)).result() == MARKER


CHILD = """
import asyncio, sys
from plait import Engine
from tests.codec.flows import echo
async def main():
    async with Engine(sys.argv[1], definitions=[echo]) as engine:
        for number in range(40):
            run = await engine.start(echo, f"value {number}", id=f"r-{number}", subject=f"customer:{number}")
            await run.result()
        print("ready", flush=True)
        for number in range(40):
            await engine.erase(f"customer:{number}")
            print(number, flush=True)
        print("done", flush=True)
asyncio.run(main())
"""


@pytest.mark.parametrize("after", [1, 7, 20])
async def test_a_process_that_is_killed_while_it_erases_keeps_what_it_said(on_disk: Sealed, file: Path, after: int):
    environment = os.environ | {"PLAIT_ENCRYPTION_KEY": MASTER}
    command = [sys.executable, "-c", CHILD, on_disk.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(after + 1)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
    erased = [int(line) for line in said if line.strip().isdigit()]
    async with on_disk.engine(echo) as engine:
        outcomes = [await _outcome(engine, number) for number in range(40)]
    assert all(outcomes[number] == "erased" for number in erased)
    assert all(found in ("erased", f"value {number}") for number, found in enumerate(outcomes))


async def _outcome(engine: Engine, number: int) -> str:
    try:
        return await asyncio.wait_for((await engine.get(f"r-{number}")).result(), 5)
    except Erased:
        return "erased"


async def test_a_database_goes_from_plain_to_encrypted_to_rotated_to_erased(sealed: Sealed):
    async with sealed.plain(echo) as engine:
        await (await engine.start(echo, "plain", id="plain", subject=SUBJECT)).result()
    async with sealed.engine(echo) as engine:
        await (await engine.start(echo, "sealed", id="sealed", subject=SUBJECT)).result()
        await engine.encryption.rotate()
        await (await engine.start(echo, "rotated", id="rotated", subject="customer:43")).result()
    async with sealed.engine(echo) as engine:
        receipt = await engine.erase(SUBJECT)
        assert receipt.run_ids == ["sealed", "plain"]
        assert receipt.unencrypted == ["plain"]
        with pytest.raises(Erased):
            await (await engine.get("sealed")).result()
        assert await (await engine.get("rotated")).result() == "rotated"
