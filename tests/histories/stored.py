"""A stored history: a run's row and its log, as JSON that a person can read."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

import plait
from plait.kernel.ids import RunId, Seq, Shard, shard_of
from plait.kernel.store import LogRow, RunRow, Store, Write

LOGS = Path(__file__).parent / "logs"


@dataclass(frozen=True)
class Stored:
    name: str
    plait: str
    row: dict[str, Any]
    log: list[dict[str, Any]]
    blobs: dict[str, str]

    @property
    def id(self) -> str:
        return self.row["id"]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for row in self.log for event in row["events"]]

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    async def put(self, store: Store) -> None:
        """Into a database, as if its run had ended there."""
        plain = {**self.row, "shard": shard_of(RunId(self.id)), "output": None}
        row = msgspec.json.decode(json.dumps(plain), type=RunRow)
        row.output = None if self.row["output"] is None else Raw(json.dumps(self.row["output"]).encode())
        rows = [
            LogRow(Seq(r["seq"]), len(r["events"]), r["at"], json.dumps(r["events"]).encode(), r["blobs"])
            for r in self.log
        ]
        blobs = [(digest, body.encode()) for digest, body in self.blobs.items()]
        write = Write(row.id, row.shard, None, create=row, copies=rows, blobs=blobs)
        assert await store.commit([write]) == ["ok"]


def stored(folder: Path = LOGS) -> list[Stored]:
    return [Stored(**json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]


async def take(name: str, store: Store, run_id: RunId) -> Stored:
    """From the database in which a recipe has played it."""
    row = await store.run(run_id)
    assert row is not None
    row.shard = Shard(0)  # it follows from the id
    log = await store.log(run_id)
    blobs: dict[str, str] = {}
    for part in log:
        for digest in (json.loads(part.blobs) if part.blobs else {}).values():
            blobs[digest] = (await store.blob(digest)).decode()
    rows = [{"seq": r.seq, "at": r.at, "blobs": r.blobs, "events": json.loads(r.events)} for r in log]
    return Stored(name, plait.__version__, json.loads(msgspec.json.encode(row)), rows, blobs)


def save(found: Stored, folder: Path = LOGS) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{found.name}.json"
    content = {key: getattr(found, key) for key in ("name", "plait", "row", "log", "blobs")}
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    path.write_text(without_places(text))
    return path


def without_places(text: str) -> str:
    """Tracebacks name files; where they lay on the machine that recorded is nobody's business."""
    for folder in (str(Path(__file__).parents[2]), sys.base_prefix, str(Path.home())):
        text = text.replace(folder, "...")
    return text
