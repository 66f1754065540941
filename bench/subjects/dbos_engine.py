"""DBOS, on SQLite or PostgreSQL, the way that measured fastest for each work.

Plain functions on threads beat its coroutines for sequential steps; coroutines are what it recommends for fan-out and
many waiting workflows, so those use them. On SQLite the file is put in write-ahead mode first: DBOS leaves the mode as
it finds it, and this is faster for it.
"""

# Peers live in environments of their own, where this file runs; the project's type checker cannot see them.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedFunctionDecorator=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

from dbos import DBOS, SetWorkflowID

from bench.subjects.engine import GATE
from bench.subjects.script import run_engine

DAY = 86_400
MOST_THREADS = 64
POLL_SECONDS = 0.05


@DBOS.step()
def number(i: int) -> int:
    return i


@DBOS.workflow()
def sequential(steps: int) -> int:
    return sum(number(i) for i in range(steps))


@DBOS.step()
async def number_async(i: int) -> int:
    return i


@DBOS.step()
async def pass_gate(run: str) -> int:
    await GATE.passing(run)
    return 0


@DBOS.workflow()
async def parallel(width: int) -> int:
    return sum(await asyncio.gather(*(number_async(i) for i in range(width))))


@DBOS.workflow()
async def held(run: str, before: int, after: int) -> int:
    for i in range(before):
        await number_async(i)
    await pass_gate(run)
    for i in range(after):
        await number_async(i)
    return before + after


@DBOS.workflow()
async def sleeping() -> None:
    await DBOS.sleep_async(DAY)


class DbosSubject:
    def __init__(self, target: str) -> None:
        self._url = target
        self._threads = ThreadPoolExecutor(MOST_THREADS)

    async def open(self) -> None:
        if self._url.startswith("sqlite:///"):
            _write_ahead(self._url.removeprefix("sqlite:///"))
        DBOS(
            config={
                "name": "bench",
                "system_database_url": self._url,
                "application_version": "1",
                "log_level": "CRITICAL",
            }
        )
        DBOS.launch()

    async def sequential(self, run: str, steps: int) -> int:
        def on_thread() -> int:
            with SetWorkflowID(run):
                return sequential(steps)

        return await asyncio.get_running_loop().run_in_executor(self._threads, on_thread)

    async def parallel(self, run: str, width: int) -> int:
        with SetWorkflowID(run):
            return await parallel(width)

    async def hold(self, run: str, before: int, after: int) -> None:
        with SetWorkflowID(run):
            await DBOS.start_workflow_async(held, run, before, after)
        await GATE.arrival(run)

    async def resume(self, runs: list[str]) -> None:
        """Recovery starts by itself at launch; one cheap query at a time asks whether it is through."""
        while await DBOS.list_workflows_async(status=["PENDING", "ENQUEUED"], limit=1, load_input=False):
            await asyncio.sleep(POLL_SECONDS)
        done = await DBOS.list_workflows_async(status="SUCCESS", load_input=False, load_output=False)
        missing = set(runs) - {workflow.workflow_id for workflow in done}
        if missing:
            raise AssertionError(f"{len(missing)} of {len(runs)} runs were not recovered")

    async def sleep(self, run: str) -> None:
        with SetWorkflowID(run):
            await DBOS.start_workflow_async(sleeping)

    def helpers(self) -> list[int]:
        return []


def _write_ahead(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    connection.close()


if __name__ == "__main__":
    run_engine(metadata.version("dbos"), DbosSubject)
