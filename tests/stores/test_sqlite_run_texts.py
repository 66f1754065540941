"""Texts of most new runs are made by SQLite itself: they are what the program would make, damaged rows or not."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, Shard, run_key
from plait.kernel.run_text import about, of_error
from plait.kernel.store import RunRow, Write
from plait.stores.run_numbers import RunNumbers
from plait.stores.sqlite.commit import commit
from plait.stores.sqlite.database import open_writer
from plait.stores.sqlite.run_texts import index_new_runs, namespace_mark, text_place

GENERATED = "01932f3a-7c00-7abc-8def-0123456789ab"
NAMES = [
    "order-1",
    "Order-1 & MORE ~",
    "x",
    GENERATED,
    GENERATED.upper(),
    f"{GENERATED}.charge",
    f"a{GENERATED[1:]}x",
    "01932f3a-7c00-4abc-8def-0123456789ab",
    "-" * 36,
    "a" * 35,
    "A" * 36,
    "straße",
    "ΑΒΓ",
    "emoji-😀",
]
FAILED = ErrorInfo("step.exhausted", "no connection")


def run_of(namespace: str, name: str, at: int, **given: Any) -> RunRow:
    return RunRow(
        id=run_key(namespace, name),
        namespace=namespace,
        dialect="code",
        definition="d",
        version=None,
        shard=Shard(0),
        created_at=Millis(at),
        **given,
    )


def runs() -> list[RunRow]:
    plain = [run_of(space, name, 1_000 + place) for space in ("default", "team") for place, name in enumerate(NAMES)]
    labelled = run_of("default", "labelled", 5_000, labels={"Customer": "ACME"})
    failed = run_of("default", "failed", 5_001, status="failed", error=FAILED)
    early = run_of("default", "before-all-times", -5)
    return [*plain, labelled, failed, early]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "plait.db")


def filled(path: str, rows: list[RunRow]) -> Any:
    db = open_writer(path, "FULL", 0)
    assert set(commit(db, RunNumbers(), [Write(row.id, Shard(0), None, create=row) for row in rows])) == {"ok"}
    return db


def expected(rows: list[RunRow]) -> set[tuple[int, int, int, str, str]]:
    found: set[tuple[int, int, int, str, str]] = set()
    for number, row in enumerate(rows, 1):
        for part, text in enumerate((about(row.id, row.labels), "" if row.error is None else of_error(row.error))):
            if text:
                place = text_place(row.created_at, number, part)
                found.add((place, number, part, namespace_mark(row.namespace), text))
    return found


def found_by(db: Any, text: str) -> set[int]:
    groups = "select rowid from run_text_groups where run_text_groups match ?1"
    return {place for (place,) in db.execute(groups, (f'"{text}"',))}


def test_each_run_has_the_texts_that_the_program_would_make(path: str):
    rows = runs()
    db = filled(path, rows)
    index_new_runs(db)
    assert set(db.execute("select place, run, part, space, text from run_texts")) == expected(rows)
    assert next(db.execute("select upto from indexed_runs")) == (len(rows),)


def test_the_index_has_the_groups_of_every_text_once(path: str):
    db = filled(path, runs())
    index_new_runs(db)
    index_new_runs(db)
    for place, text in db.execute("select place, text from run_texts where length(text) >= 3"):
        assert place in found_by(db, text[:3].replace('"', '""'))
    db.execute("insert into run_text_groups (run_text_groups, rank) values ('integrity-check', 1)")


def test_a_place_that_is_taken_keeps_its_text(path: str):
    db = filled(path, [run_of("default", "first-one", 7)])
    taken = (text_place(7, 1, 0), 99, 0, namespace_mark("default"), "of another run")
    db.execute("insert into run_texts values (?,?,?,?,?)", taken)
    index_new_runs(db)
    assert list(db.execute("select * from run_texts")) == [taken]
    assert found_by(db, "fir") == set()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("namespace", b"team"),
        ("namespace", b"\xff\xfe"),
        ("id", b"order-1"),
        ("id", b"\xff\xfe-1"),
        ("created_at", "yesterday"),
        ("labels", "{not json"),
        ("labels", b"\xff"),
        ("error", "{"),
    ],
)
def test_a_damaged_row_holds_up_nobody(path: str, column: str, value: object):
    rows = [run_of("default", f"run-{number}", number) for number in range(3)]
    db = filled(path, rows)
    db.execute(f"update runs set {column} = ?1 where number = 2", (value,))
    index_new_runs(db)
    sound = {number for (number,) in db.execute("select run from run_texts where part = 0 and text like 'run-%'")}
    assert {1, 3} <= sound
    assert next(db.execute("select upto from indexed_runs")) == (3,)
