"""Several `plait serve` processes on one PostgreSQL: each shows live what any of them does."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

from tests.server.contract.processes import client_of, finished, follow_to_the_end, serving, start_surely
from tests.server.serving import frames

RUNS = 40


async def test_what_one_server_runs_is_live_in_the_other(postgres_url: str, ledger: Path):
    async with (
        serving(postgres_url, ledger) as first,
        serving(postgres_url, ledger) as second,
        client_of(first) as one,
        client_of(second) as other,
    ):
        seen: list[list[int]] = []
        watching: list[asyncio.Task[None]] = []
        for number in range(RUNS):
            start, watch = (one, other) if number % 2 else (other, one)
            await start_surely(start, number)
            numbers: list[int] = []
            seen.append(numbers)
            watching.append(asyncio.create_task(follow_to_the_end(watch, f"sum-{number}", numbers)))
        await asyncio.gather(*watching)
        for number, numbers in enumerate(seen):
            assert await finished(one, number) == await finished(other, number) == number + 5
            log = (await one.get(f"/runs/sum-{number}/events")).json()["events"]
            assert numbers == [event["seq"] for event in log]


async def test_the_live_list_of_one_server_shows_the_runs_of_the_other(postgres_url: str, ledger: Path):
    async with (
        serving(postgres_url, ledger) as first,
        serving(postgres_url, ledger) as second,
        client_of(first) as one,
        client_of(second) as other,
        other.stream("GET", "/runs", headers={"accept": "text/event-stream"}) as answer,
        aclosing(frames(answer.aiter_lines())) as turns,  # type: ignore[type-var]
    ):
        assert (await anext(turns)).event == "snapshot"
        for number in range(RUNS):
            await start_surely(one, number)
        statuses: dict[str, str] = {}
        while len(statuses) < RUNS or set(statuses.values()) != {"completed"}:
            turn = await anext(turns)
            statuses |= {run["id"]: run["status"] for run in turn.data["runs"]}
            assert not turn.data.get("gone")
