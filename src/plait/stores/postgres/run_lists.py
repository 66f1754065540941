"""Lists of runs on PostgreSQL. The statements are in `run_lists.sql`; `stores/run_lists` decides which are asked."""

from __future__ import annotations

from typing import Any, assert_never, get_args

from plait.kernel.run_text import groups
from plait.kernel.store import RunFilter, RunRow
from plait.stores import rows, statements
from plait.stores.run_lists import Count, Floor, Index, Names, Rows, Source, Step, TextMatch, bounds, list_steps

from .database import Connection

SQL = statements.load("plait.stores.postgres", "run_lists.sql")
_UNORDERED: tuple[Index, ...] = ("of_prefix", "of_claimed", "of_text")
_ORDER = "order by created_at desc, id desc"


def _composed(name: str) -> dict[str, str]:
    """A statement for each index."""
    found: dict[str, str] = {}
    for index in get_args(Index):
        order = "" if index in _UNORDERED else _ORDER
        found[index] = SQL[name].format(index=SQL[index], order=order)
    return found


COUNTS, FLOORS, ROWS = _composed("count"), _composed("floor"), _composed("rows")


async def list_runs(connection: Connection, query: RunFilter) -> list[RunRow]:
    steps = list_steps(query, sorts_texts=True)
    try:
        step = next(steps)
        while True:
            step = steps.send(await _answer(connection, query, step))
    except StopIteration as done:
        return done.value


async def namespaces(connection: Connection) -> list[str]:
    """Those that have runs."""
    return list(dict.fromkeys(row[0] for row in await connection.fetch(SQL["dialects"], None)))


async def _answer(connection: Connection, query: RunFilter, step: Step) -> Any:
    match step:
        case Count():
            arguments = (*_keys(step.source), *_bounds(query), step.most)
            return await connection.fetchval(COUNTS[step.source.index], *arguments)
        case Floor():
            arguments = (*_keys(step.source), *_bounds(query), step.depth)
            return await connection.fetchval(FLOORS[step.source.index], *arguments)
        case Rows():
            arguments = row_arguments(query, step)
            return [rows.listed_run(tuple(row)) for row in await connection.fetch(ROWS[step.source.index], *arguments)]
        case Names():
            return [tuple(row) for row in await connection.fetch(SQL[step.of], step.namespace)]
        case _:
            assert_never(step)


def row_arguments(query: RunFilter, step: Rows) -> tuple[object, ...]:
    return (
        *_keys(step.source),
        *_bounds(query, step.since),
        query.limit,
        query.namespace,
        query.statuses,
        query.dialect,
        query.definition,
        query.parent,
        rows.json_text(query.labels) if query.labels else None,
        query.id_prefix,
        *_text(step.text),
    )


def _keys(source: Source) -> list[list[str]]:
    return [list(column) for column in zip(*source.keys, strict=True)]


def _bounds(query: RunFilter, floor: int | None = None) -> tuple[int, str, int]:
    (before_at, before_id), since = bounds(query)
    return before_at, before_id, since if floor is None else max(since, floor)


def _text(text: TextMatch | None) -> tuple[list[str] | None, list[str], list[str], str]:
    if text is None:
        return None, [], [], ""
    wanted = groups(text.folded) if text.anywhere else []
    return list(text.starts), list(text.definitions), wanted, text.folded
