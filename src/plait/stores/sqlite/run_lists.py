"""Lists of runs on SQLite. The statements are in `run_lists.sql`; `stores/run_lists` decides which are used."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, assert_never, get_args

import apsw

from plait.kernel.store import RunFilter, RunRow
from plait.stores import rows, statements
from plait.stores.listed_rows import listed_run
from plait.stores.run_lists import (
    Abilities,
    Count,
    Expected,
    Floor,
    Index,
    Key,
    Names,
    Rows,
    Step,
    TextMatch,
    bounds,
    list_steps,
)

from .run_texts import LATEST, PLACE_BITS, search_expression
from .undecodable import decoded_rows, fetch_all

SQL = statements.load("plait.stores.sqlite", "run_lists.sql")
_CAN = Abilities(orders_texts=True, splits_definitions=False)


def _composed(name: str) -> dict[str, str]:
    """A statement for each index."""
    found: dict[str, str] = {}
    for index in get_args(Index):
        if index in SQL:
            order = "place.place desc" if index == "of_text" else "place.created_at desc, place.id desc"
            run = "r.id = place.id" if index == "of_label" else "r.number = place.number"
            found[index] = SQL[name].format(index=SQL[index], order=order, run=run)
    return found


COUNTS, ROWS = _composed("count"), _composed("rows")


def list_runs(db: apsw.Connection, query: RunFilter) -> list[RunRow]:
    steps = list_steps(query, _CAN)
    reading = _Reading(db, query)
    try:
        step = next(steps)
        while True:
            step = steps.send(reading.answer(step))
    except StopIteration as done:
        return done.value


class _Reading:
    """The state of reading one list."""

    def __init__(self, db: apsw.Connection, query: RunFilter) -> None:
        self._db = db
        self._query = query
        self._bindings = bindings(query)

    def answer(self, step: Step) -> Any:
        match step:
            case Count():
                return sum(self._count(step, key) for key in step.source.keys)
            case Rows():
                return self._all_rows(step)
            case Names():
                return self._names(step)
            case Floor() | Expected():
                raise AssertionError("only asked where the index of texts has no order")
            case _:
                assert_never(step)

    def _count(self, step: Count, key: Key) -> int:
        given = {**self._bindings, **_key(key), **_text(step.text, key[0]), "limit": step.most}
        return next(self._db.execute(COUNTS[step.source.index], given))[0]

    def _all_rows(self, step: Rows) -> list[RunRow]:
        """The rows of all parts; each part is only read down to the last row that the others leave on the list."""
        found: list[RunRow] = []
        oldest = -1 if step.since is None else step.since
        for key in step.source.keys:
            found += self._rows(step, key, oldest)
            if len(found) >= self._query.limit:
                found.sort(key=lambda row: row.created_at, reverse=True)
                oldest = found[self._query.limit - 1].created_at
        return found

    def _rows(self, step: Rows, key: Key, oldest: int) -> list[RunRow]:
        """Up to the length of the list, and all with the last one's time: the text index has those in any order."""
        try:
            return self._listed(step, key, oldest, self._db.execute)  # pyright: ignore[reportUnknownArgumentType]
        except UnicodeDecodeError:
            return self._listed(step, key, oldest, partial(decoded_rows, self._db))

    def _listed(self, step: Rows, key: Key, oldest: int, read: Callable[..., Iterable[rows.Row]]) -> list[RunRow]:
        given = {**self._bindings, **_key(key), **_text(step.text, key[0])}
        found: dict[str, RunRow] = {}
        last = None
        for columns in read(ROWS[step.source.index], given):
            created_at: int = columns[rows.CREATED_AT]
            if created_at < oldest or (len(found) >= self._query.limit and created_at != last):
                break
            row = listed_run(columns)
            found[row.id] = row
            last = created_at
        return list(found.values())

    def _names(self, step: Names) -> list[tuple[str, str]]:
        spaces = [step.namespace] if step.namespace is not None else namespaces(self._db)
        return [(space, name) for space in spaces for name in _skipping(self._db, f"next_{step.of}", space)]


def namespaces(db: apsw.Connection) -> list[str]:
    """Namespaces that have runs."""
    return _skipping(db, "next_namespace", None)


def _skipping(db: apsw.Connection, name: str, namespace: str | None) -> list[str]:
    """The distinct values of an index, each found by a step past the previous one."""
    found: list[str] = []
    given = {} if namespace is None else {"namespace": namespace}
    while rows_found := fetch_all(db, SQL[name], {**given, "last": found[-1] if found else ""}):
        if not isinstance(rows_found[0][0], str):  # damaged; bytes sort after every text
            break
        found.append(rows_found[0][0])
    return found


def bindings(query: RunFilter) -> dict[str, Any]:
    (before_at, before_id), since = bounds(query)
    return {
        "before_at": before_at,
        "before_id": before_id,
        "since": since,
        "oldest_text": min(max(since, 0), LATEST) << PLACE_BITS,
        "newest_text": (min(max(before_at, 0), LATEST) + 1) << PLACE_BITS,
        "namespace": query.namespace,
        "statuses": None if query.statuses is None else rows.json_text(query.statuses),
        "dialect": query.dialect,
        "definition": query.definition,
        "parent": query.parent,
        "labels": rows.json_text(query.labels) if query.labels else None,
        "id_prefix": query.id_prefix,
    }


def _text(text: TextMatch | None, namespace: str) -> dict[str, Any]:
    if text is None:
        return {"text": None, "definitions": None, "starts": None, "anywhere": False, "match": None}
    return {
        "text": text.folded,
        "definitions": rows.json_text(text.definitions),
        "starts": rows.json_text(text.starts),
        "anywhere": text.anywhere,
        "match": search_expression(namespace, text.folded),
    }


def _key(key: Key) -> dict[str, str]:
    return dict(zip("abc", key, strict=True))
