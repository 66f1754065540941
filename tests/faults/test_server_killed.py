"""`plait serve` is killed or stopped while requests come in: what it acknowledged is there, and gets done."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from plait import Engine
from tests.server.contract.processes import (
    client_of,
    finished,
    follow_to_the_end,
    serving,
    start_run,
    start_surely,
)

from .work import STEPS_OF_SUMMING, keys_by_step

RUNS = 150
CLIENTS = 12


async def acknowledged_at_least(acknowledged: list[int], count: int) -> None:
    while len(acknowledged) < count:  # noqa: ASYNC110
        await asyncio.sleep(0.001)


def assert_every_step_ran_under_one_key(ledger: Path, numbers: list[int]) -> None:
    keys = keys_by_step(ledger)
    expected = {f"sum-{number}/{path}" for number in numbers for path in STEPS_OF_SUMMING}
    assert expected <= set(keys)
    assert all(len(found) == 1 for found in keys.values())


@pytest.mark.chance(again=True)
async def test_killed_under_load_and_started_again_nothing_acknowledged_is_lost(database: str, ledger: Path):
    acknowledged: list[int] = []
    async with serving(database, ledger) as server, client_of(server) as client:

        async def one(number: int) -> None:
            await start_surely(client, number)
            acknowledged.append(number)

        starting = [asyncio.ensure_future(one(number)) for number in range(RUNS)]
        await acknowledged_at_least(acknowledged, RUNS // 3)
        await server.kill()
        before = len(acknowledged)
        await server.start()
        await asyncio.gather(*starting)
        assert before < RUNS
        outputs = await asyncio.gather(*(finished(client, number) for number in range(RUNS)))
        assert outputs == [number + 5 for number in range(RUNS)]
        rows = (await client.get("/runs", params={"limit": 500})).json()["runs"]
        assert sorted(row["id"] for row in rows) == sorted(f"sum-{number}" for number in range(RUNS))
    assert_every_step_ran_under_one_key(ledger, list(range(RUNS)))


async def test_stopped_under_load_every_request_is_answered_or_refused_and_the_rest_is_handed_over(
    database: str, ledger: Path
):
    acknowledged: list[int] = []
    refusals: list[str] = []
    async with serving(database, ledger) as server, client_of(server) as client:

        async def keep_starting(first: int) -> None:
            number = first
            while True:
                try:
                    answer = await start_run(client, number)
                except httpx.TransportError as error:
                    refusals.append(str(error))
                    return
                if answer.status_code == 503:
                    assert answer.headers["retry-after"]
                    refusals.append(answer.json()["code"])
                    return
                assert answer.status_code == 201, answer.text
                acknowledged.append(number)
                number += CLIENTS

        clients = [asyncio.ensure_future(keep_starting(first)) for first in range(CLIENTS)]
        await acknowledged_at_least(acknowledged, RUNS)
        server.signal()
        await asyncio.gather(*clients)
        assert await server.ended() == 0
    assert len(refusals) == CLIENTS
    assert not [text for text in refusals if "complete message" in text]  # no connection, but never half an answer
    async with Engine(database, work=False) as looking:
        assert await looking.kernel.store.owners() == []  # no lease has to run out before others go on
    async with serving(database, ledger) as server, client_of(server) as client:
        outputs = await asyncio.gather(*(finished(client, number) for number in acknowledged))
        assert outputs == [number + 5 for number in acknowledged]
    assert_every_step_ran_under_one_key(ledger, acknowledged)


async def test_watchers_go_on_after_a_kill_without_gap_or_repetition(tmp_path: Path, ledger: Path):
    watched = range(20)
    async with serving(f"sqlite:///{tmp_path}/plait.db", ledger) as server, client_of(server) as client:
        waiting = {"definition": "waiting", "id": "last"}
        assert (await client.post("/runs", json=waiting)).status_code == 201
        for number in watched:
            await start_surely(client, number)
        seen: dict[str, list[int]] = {id: [] for id in ("last", *(f"sum-{number}" for number in watched))}
        watching = [asyncio.ensure_future(follow_to_the_end(client, id, numbers)) for id, numbers in seen.items()]
        while not all(seen.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        before = len(seen["last"])
        await server.kill()
        await server.start()
        assert (await client.post("/runs/last/messages", json={"name": "go", "body": "on"})).status_code == 200
        await asyncio.gather(*watching)
        for id, numbers in seen.items():
            log = (await client.get(f"/runs/{id}/events", params={"limit": 5000})).json()["events"]
            assert numbers == [event["seq"] for event in log] == list(range(1, len(log) + 1))
        assert len(seen["last"]) > before > 0
