"""A look from outside: what the API lists, and what the steps themselves wrote, against what was acknowledged."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.api.client import Client
from bench.api.flows import STEPS
from bench.api.orders import run_id


class Row(msgspec.Struct):
    id: str
    status: str


class Page(msgspec.Struct):
    runs: list[Row]
    next: str = ""


@dataclass(frozen=True)
class Evidence:
    acknowledged: int
    lost: int
    """Acknowledged, and not listed."""
    unfinished: int
    """Acknowledged and listed, but not completed."""
    listed_twice: int
    unrun_steps: int
    """Steps of acknowledged runs that never ran."""
    repeated_steps: int
    """Steps that ran more than once, as they may after a crash."""


async def look(port: int, key: str, acknowledged: Path, ledger: Path) -> Evidence:
    return _judge(_lines(acknowledged), await _listed(port, key), _lines(ledger))


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _judge(acknowledged: list[str], listed: list[Row], ledger: list[str]) -> Evidence:
    numbers = [int(line) for line in acknowledged]
    ran = collections.Counter(ledger)
    statuses = {row.id: row.status for row in listed}
    ours = [statuses.get(run_id(number)) for number in numbers]
    return Evidence(
        acknowledged=len(numbers),
        lost=sum(status is None for status in ours),
        unfinished=sum(status not in (None, "completed") for status in ours),
        listed_twice=len(listed) - len(statuses),
        unrun_steps=sum(not ran[f"{number} {name}"] for number in numbers for name in STEPS),
        repeated_steps=sum(count > 1 for count in ran.values()),
    )


async def _listed(port: int, key: str) -> list[Row]:
    client = Client(port, key, most=1)
    found: list[Row] = []
    cursor = ""
    while True:
        status, body = await client.get(f"/runs?definition=three&limit=500{cursor and f'&cursor={cursor}'}")
        if status != 200:
            raise RuntimeError(f"the list can't be read: {body[:200].decode(errors='replace')}")
        page = msgspec.json.decode(body, type=Page)
        found += page.runs
        if not page.next:
            client.close()
            return found
        cursor = page.next
