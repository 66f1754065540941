"""A real second process: claims all shards it can get, says how many, and lives until it is killed.

with other_process(url_or_path) as other:
    other.claimed
    other.kill()
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from plait.kernel.ids import SHARDS, Millis
from plait.kernel.store import Store
from plait.stores.postgres import PostgresStore
from plait.stores.sqlite import SqliteStore
from tests.support.processes import Process, start

NEVER = Millis(3_600_000)
"""Longer than any test: who gets a shard sooner did not wait for its lease to run out."""


class OtherProcess:
    def __init__(self, process: Process) -> None:
        self._process = process

    @cached_property
    def claimed(self) -> int:
        """How many shards it got; waits until it has tried."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def other_process(where: str) -> Iterator[OtherProcess]:
    with start("tests.stores.other_process", where, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield OtherProcess(process)
        finally:
            process.kill()


def store_at(where: str) -> Store:
    return PostgresStore(where) if where.startswith("postgresql:") else SqliteStore(where)


async def claim_and_wait(where: str) -> None:
    store = store_at(where)
    await store.open()
    print(len(await store.claim(f"process {os.getpid()}", NEVER, SHARDS)), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(claim_and_wait(sys.argv[1]))
