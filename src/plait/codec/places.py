"""The names of places: the run, blob or record that a key is derived for, and the place of a value in it. They are part
of the authenticated data, so they must never change."""

from __future__ import annotations

from plait.kernel.ids import RunId, TaskToken
from plait.kernel.store import LogRow, Record

SEALED, ENCRYPTED = "sealed", "encrypted"
"""The attribute with the whole sealed error, and the message that stands in for its own."""

START, OUTPUT, ERROR, BLOCKED, WAITING = "start", "output", "error", "blocked", "waiting"


def run(run_id: RunId) -> str:
    return f"run:{run_id}"


def record(record: Record) -> str:
    return f"record:{record.kind}/{record.namespace}/{record.id}"


def blob(digest: str) -> str:
    """Returns the place of a sealed blob; references to plain blobs are `cas://sha256:…`."""
    return f"cas://sealed:{digest}"


def log(row: LogRow) -> str:
    return f"log:{row.seq}:{row.count}"


def inbox(key: str) -> str:
    return f"inbox:{key}"


def reply(key: str) -> str:
    return f"reply:{key}"


def letter(id: str) -> str:
    return f"letter:{id}"


def snapshot(seq: int) -> str:
    return f"snapshot:{seq}"


def line(node: str, attempt: int) -> str:
    return f"line:{node}:{attempt}"


def approval(token: TaskToken | None) -> str:
    return f"approval:{token}"


def task(token: TaskToken) -> str:
    return f"task:{token}"
