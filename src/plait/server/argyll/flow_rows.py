"""Lists flows that no other run started, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from plait.dialects.goals.running.advance import LOOK_AGAIN
from plait.dialects.goals.running.state import LINGER
from plait.kernel.ids import SHARDS, Millis, RunId, Shard, caller_id
from plait.kernel.store import RunFilter, RunRow
from plait.registry.engine import Engine

from .answers import tidy
from .route import NAMESPACE
from .state import Status, ended_status, listed_status, row_error
from .times import moment

_PAGE = 500
_MOST_TIMERS = 10_000
_SHARDS = [Shard(number) for number in range(SHARDS)]


class Listed(NamedTuple):
    row: RunRow
    status: Status


async def flow_rows(
    engine: Engine, labels: Mapping[str, str] | None = None, id_prefix: str | None = None
) -> list[Listed]:
    rows: list[RunRow] = []
    last: RunRow | None = None
    while True:
        page = await engine.runs(
            RunFilter(
                namespace=NAMESPACE,
                dialect=engine.goals.name,
                labels=labels or None,
                id_prefix=id_prefix or None,
                after=None if last is None else (last.created_at, last.id),
                limit=_PAGE,
            )
        )
        rows += [row for row in page if row.parent is None]
        if len(page) < _PAGE:
            break
        last = page[-1]
    lingering = await _lingering(engine)
    return [Listed(row, await _status(engine, row, lingering)) for row in rows]


async def _status(engine: Engine, row: RunRow, lingering: set[RunId]) -> Status:
    if row.status == "running":
        return "active"
    return await listed_status(engine, row) if row.id in lingering else ended_status(row)


async def _lingering(engine: Engine) -> set[RunId]:
    """Returns ended runs that may still have work in progress: each has a timer that is due soon."""
    soon = Millis(engine.kernel.clock.now() + LOOK_AGAIN)
    timers = await engine.kernel.store.due(_SHARDS, soon, _MOST_TIMERS)
    return {timer.run_id for timer in timers if timer.token == LINGER}


def shown_row(listed: Listed) -> dict[str, Any]:
    row = listed.row
    found = {
        "id": caller_id(row.id),
        "status": listed.status,
        "timestamp": moment(row.created_at),
        "labels": row.labels,
    }
    return found | tidy(error=row_error(row))
