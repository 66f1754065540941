"""What happened in the world outside the engine: a file of JSON lines that no crash takes back.

A line is written with one append, so that lines of several processes and threads never mix.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

What = Literal["called", "answered", "reported"]


class Entry(msgspec.Struct, frozen=True):
    what: What
    """Work was called for; its call was answered with `status`; its webhook was answered with `status`."""
    step: str
    flow: str
    token: str
    key: str = ""
    """The idempotency key, where the call came over HTTP."""
    body: Any = None
    status: int = 0
    undo: bool = False
    at: int = 0
    """Milliseconds, by the clock that the engine's events have."""
    pid: int = 0


class Ledger:
    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, entry: Entry) -> None:
        entry = msgspec.structs.replace(entry, at=time.time_ns() // 1_000_000, pid=os.getpid())
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, msgspec.json.encode(entry) + b"\n")
        finally:
            os.close(file)

    def entries(self, what: What | None = None, *, step: str = "", undo: bool | None = None) -> list[Entry]:
        whole, _, _ = self.path.read_bytes().rpartition(b"\n")  # the last line may be under way
        found = (msgspec.json.decode(line, type=Entry) for line in whole.splitlines())
        return [
            each
            for each in found
            if what in (None, each.what) and step in ("", each.step) and undo in (None, each.undo)
        ]

    def calls(self, step: str = "") -> list[Entry]:
        return self.entries("called", step=step, undo=False)

    def undone(self, step: str = "") -> list[Entry]:
        return self.entries("called", step=step, undo=True)

    def count(self) -> int:
        """Lines, without a look at what they say."""
        return self.path.read_bytes().count(b"\n")


def tokens(entries: Iterable[Entry]) -> Counter[str]:
    return Counter(each.token for each in entries)


def by_token(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for each in entries:
        found[each.token].append(each)
    return found
