"""Pages of ended runs, the same for every SQL store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plait.kernel.ids import Millis, RunId, Shard
from plait.kernel.removal import EndedPage, EndedQuery, Place

_BEGINNING: Place = (Millis(-1), RunId(""))


def start_of(query: EndedQuery) -> Place:
    return query.after or _BEGINNING


def ended_page(found: Sequence[Any], limit: int) -> EndedPage:
    """The page for rows of (moment, id, whether the run can be removed, shard)."""
    runs = [RunId(row[1]) for row in found if row[2]]
    shards = [Shard(row[3]) for row in found if row[2]]
    return EndedPage(runs, shards, (Millis(found[-1][0]), RunId(found[-1][1])) if len(found) == limit else None)
