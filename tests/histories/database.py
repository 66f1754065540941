"""A whole database in the middle of its work, as text: what a newer Plait finds when it takes an older one's place.

    python -m tests.histories.database      # records today's, under the number of its schema

Many runs of one workflow have been started at different times, so that each waits for something else when the engine
is killed. Beside the dump is how they ended when they went on at once.
"""

# The database in memory belongs to the store's own connection
# pyright: reportPrivateUsage=false

import asyncio
import io
import json
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import apsw.shell

import plait
from plait.kernel.store import LogRow
from plait.stores.log_rows import log_columns
from plait.stores.memory import MemoryStore
from plait.stores.sqlite import SqliteStore
from plait.testing import Sim, SimRun, sim

from .flows import DAY, DEFINITIONS, World, everything, mendable, patient
from .stored import without_places

OWNER = "an older engine"
DATABASES = Path(__file__).parent / "databases"

# Seconds before the engine is killed at which a run is started, and what it then waits for
STARTED = {
    "try": 0.1,
    "nap": 3600,
    "timer": DAY + 30,
    "limit": DAY + 65,
    "join": DAY + 72,
    "word": DAY + 90,
    "decision": 3 * DAY,
}


async def start_everything(s: Sim) -> None:
    """Every run starts at its time; then some are told what they wait for."""
    began = s.clock.monotonic()
    last = max(STARTED.values())
    for name, before in sorted(STARTED.items(), key=lambda item: -item[1]):
        await s.clock.advance(began + last - before - s.clock.monotonic())
        await s.start(everything, 3, id=name)
        if name == "decision":
            await s.clock.advance(DAY + 90)
            await send_words(SimRun(s, name, "default"))
    await s.start(patient, id="message")
    await s.start(mendable, id="broken")
    await s.clock.advance(0.1)


async def send_words(run: SimRun) -> None:
    for number in range(3):
        await run.message("word", f"word {number}", id=f"word-{number}")


async def finish_everything(s: Sim) -> dict[str, Any]:
    """Tells every run what it waits for, and gives how they ended."""
    World.mended = True
    runs = {name: SimRun(s, name, "default") for name in (*STARTED, "message", "broken")}
    await runs["message"].message("go", "on", id="go")
    for name in STARTED:
        if name != "decision":
            await send_words(runs[name])
        await s.skip_until(lambda run=runs[name]: _asked(s, run))
        await s.engine.approvals.decide(f"{name}:ok", "approve", by="boss")
    return {name: await s.result(run) for name, run in runs.items()}


async def _asked(s: Sim, run: SimRun) -> bool:
    return any(approval.run_id == run.id for approval in await s.engine.approvals.list())


async def record() -> Path:
    World.mended = False
    store = MemoryStore()
    async with sim(DEFINITIONS, store=store) as s:
        await start_everything(s)
        assert store._db is not None
        _forget_places(store._db)
        out, owner = io.StringIO(), s.engine.kernel.owner
        apsw.shell.Shell(stdout=out, db=store._db).process_command(".dump")
        [(schema,)] = store._db.execute("pragma user_version")
        [(application,)] = store._db.execute("pragma application_id")
        facts = {
            "plait": plait.__version__,
            "schema": schema,
            "application": application,
            "owner": OWNER,
            "time": s.clock.time.isoformat(),
        }
        await s.crash()
        facts["endings"] = await finish_everything(s)
    await store.dispose()
    DATABASES.mkdir(exist_ok=True)
    path = DATABASES / f"schema-{schema}.sql"
    text = without_places(out.getvalue().replace(owner, OWNER))
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    path.write_text("\n".join(lines) + "\n")
    path.with_suffix(".json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    return path


def _forget_places(db: apsw.Connection) -> None:
    """In logs, whose rows have a checksum; elsewhere the dump does it."""
    for number, seq, count, at, events, blobs in list(db.execute("select run, seq, count, at, events, blobs from log")):
        columns = log_columns(number, LogRow(seq, count, at, without_places(events).encode(), blobs))
        db.execute("update log set events = ?5, checksum = ?7 where run = ?1 and seq = ?2", columns)


def file_of(dump: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The database of a dump as the older engine left it, and what is known of it."""
    facts = json.loads(dump.with_suffix(".json").read_text())
    file = folder / "plait.db"
    with sqlite3.connect(file) as db:
        db.executescript(dump.read_text())
        db.execute(f"pragma user_version = {facts['schema']}")
        db.execute(f"pragma application_id = {facts['application']}")
    db.close()
    return file, facts


@asynccontextmanager
async def restored(dump: Path, folder: Path) -> AsyncIterator[tuple[Sim, dict[str, Any]]]:
    """The database of a dump, brought to today's schema, with an engine in place of the one that was killed."""
    file, facts = file_of(dump, folder)
    migrated = SqliteStore(str(file))
    await migrated.open()
    store = MemoryStore()
    await store.open()
    assert store._db is not None
    assert migrated._db is not None
    with store._db.backup("main", migrated._db, "main") as backup:
        backup.step()
    await migrated.close()
    await store.release(facts["owner"])  # its leases have run out
    try:
        async with sim(DEFINITIONS, store=store, start=datetime.fromisoformat(facts["time"])) as s:
            yield s, facts["endings"]
    finally:
        await store.dispose()


if __name__ == "__main__":
    print(asyncio.run(record()))
    sys.exit(0)
