"""Lists of runs on PostgreSQL. The statements are in `run_lists.sql`; `stores/run_lists` decides which are used."""

from __future__ import annotations

from typing import Any, assert_never, get_args

from plait.kernel.run_text import groups
from plait.kernel.store import RunFilter, RunRow
from plait.stores import rows, statements
from plait.stores.listed_rows import listed_run
from plait.stores.run_lists import (
    Abilities,
    Count,
    Expected,
    Floor,
    Index,
    Names,
    Rows,
    Source,
    Step,
    TextMatch,
    bounds,
    list_steps,
)

from .database import Connection
from .text_statistics import UNKNOWN, TextStatistics

SQL = statements.load("plait.stores.postgres", "run_lists.sql")
_BY_ID = "join plait.runs r on r.id = place.id"
_ORDERED = "order by place.created_at desc, place.id desc limit $7"
"""With the limit inside: otherwise the server may prefer to scan everything."""
_UNORDERED: tuple[Index, ...] = ("of_prefix", "of_claimed")
_CAN = Abilities(orders_texts=False, splits_definitions=True)


def _composed(name: str, unordered: str) -> dict[str, str]:
    """A statement for each index; those without an order are read to the end for a list."""
    found: dict[str, str] = {}
    for index in get_args(Index):
        page = unordered if index in _UNORDERED else _ORDERED
        found[index] = SQL[name].format(index=SQL[index], run=_BY_ID, page=page)
    return found


COUNTS, FLOORS, ROWS = _composed("count", "limit $7"), _composed("floor", ""), _composed("rows", "")
# All matches of a text are found before they are ordered; the other filters are then checked one by one
ROWS["of_text"] = SQL["rows"].format(index=SQL["of_text"], run=SQL["by_number"], page=SQL["with_ties"])


async def list_runs(connection: Connection, query: RunFilter, statistics: TextStatistics = UNKNOWN) -> list[RunRow]:
    steps = list_steps(query, _CAN)
    try:
        step = next(steps)
        while True:
            step = steps.send(await _answer(connection, query, step, statistics))
    except StopIteration as done:
        return done.value


async def namespaces(connection: Connection) -> list[str]:
    """Namespaces that have runs."""
    return list(dict.fromkeys(row[0] for row in await connection.fetch(SQL["dialects"], None)))


async def _answer(connection: Connection, query: RunFilter, step: Step, statistics: TextStatistics) -> Any:
    match step:
        case Count():
            arguments = (*_keys(step.source), *_bounds(query), step.most)
            return await connection.fetchval(COUNTS[step.source.index], *arguments)
        case Floor():
            arguments = (*_keys(step.source), *_bounds(query, step), step.depth)
            return await connection.fetchval(FLOORS[step.source.index], *arguments)
        case Rows():
            arguments = row_arguments(query, step, statistics)
            return [listed_run(tuple(row)) for row in await connection.fetch(ROWS[step.source.index], *arguments)]
        case Expected():
            return statistics.expected(groups(step.text.folded)) if step.text.anywhere else 0
        case Names():
            return [tuple(row) for row in await connection.fetch(SQL[step.of], step.namespace)]
        case _:
            assert_never(step)


def row_arguments(query: RunFilter, step: Rows, statistics: TextStatistics = UNKNOWN) -> tuple[object, ...]:
    asked = (statistics.worth_asking(key[0] for key in step.source.keys),) if step.source.index == "of_text" else ()
    return (
        *_keys(step.source),
        *_bounds(query, step),
        query.limit,
        query.namespace,
        query.statuses,
        query.dialect,
        query.definition,
        query.parent,
        rows.json_text(query.labels) if query.labels else None,
        query.id_prefix,
        *_text(step.text, statistics),
        *asked,
    )


def _keys(source: Source) -> list[list[str]]:
    return [list(column) for column in zip(*source.keys, strict=True)]


def _bounds(query: RunFilter, step: Floor | Rows | None = None) -> tuple[int, str, int]:
    (before_at, before_id), since = bounds(query, step)
    return before_at, before_id, since


def _text(text: TextMatch | None, statistics: TextStatistics) -> tuple[list[str] | None, list[str], list[str], str]:
    if text is None:
        return None, [], [], ""
    wanted = statistics.rarest(groups(text.folded)) if text.anywhere else []
    return list(text.starts), list(text.definitions), wanted, text.folded
