"""Opening a SQLite file: durability, schema version, and errors a person can act on."""

# apsw's types name `collections.abc.Buffer`, which Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NoReturn

import apsw

from plait.kernel.counted import counted
from plait.kernel.errors import Unavailable
from plait.kernel.ids import RunId, caller_id
from plait.stores import statements
from plait.stores.examined_rows import damaged_rows

from .run_texts import index_new_runs, namespace_mark
from .undecodable import decoded_rows

Synchronous = Literal["FULL", "NORMAL"]

log = logging.getLogger("plait.store")

PRIVATE = 0o600
_JOURNAL = 64 * 1024 * 1024
"""Bytes to which the journal is truncated after a checkpoint: a long read, as of a backup, lets it grow meanwhile."""
APPLICATION_ID = 0x506C_6169  # "Plai": distinguishes our files from others
_UNLISTED = """
select id from runs
where typeof(created_at) <> 'integer' or status not in ('running', 'completed', 'failed', 'cancelled')
"""
_LOST = """
select count(*) from log
where run not in (select number from runs) and run not in (select run from removed_runs)
"""
_RUN_PATCHES = statements.load("plait.stores.sqlite", "run_patches.sql")
_EXAMINED = statements.load("plait.stores.sqlite", "examined_rows.sql")
_MIGRATIONS = list(statements.load("plait.stores.sqlite", "migrations.sql").values())


def connect(path: str, synchronous: Synchronous, busy_ms: int) -> apsw.Connection:
    with readable_errors(path):
        if path != ":memory:":
            _check_folder(path)
            _create_private(path)
        db = apsw.Connection(path, statementcachesize=200)
        db.set_busy_timeout(busy_ms)
        db.create_scalar_function("namespace_mark", namespace_mark, 1, deterministic=True)
        # Otherwise SQLite recompiles a statement at each call, to see whether the values allow a partial index
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        _check_ours(db, path)
        db.execute("pragma journal_mode = wal")
        db.execute(f"pragma synchronous = {synchronous}")
        db.execute("pragma cache_size = -16384")
        db.execute("pragma temp_store = memory")
        db.execute("pragma wal_autocheckpoint = 4000")
        db.execute(f"pragma journal_size_limit = {_JOURNAL}")
        db.execute("pragma secure_delete = fast")  # overwritten data in pages that are written anyway leaves no trace
        return db


def open_writer(path: str, synchronous: Synchronous, busy_ms: int) -> apsw.Connection:
    """A connection that may write, to a file of the newest schema."""
    db = connect(path, synchronous, busy_ms)
    migrate(db, path)
    with readable_errors(path):
        prepare_writing(db)
    return db


def prepare_writing(db: apsw.Connection) -> None:
    """Sets up a connection for `commit`; only after all migrations, which would fail on it."""
    for statement in _RUN_PATCHES.values():
        db.execute(statement)


def migrate(db: apsw.Connection, path: str) -> None:
    """Migrates the file to the newest schema; raises if a newer Plait wrote it."""
    with readable_errors(path):
        version = _version(db)
        _check_version(version, path)
        if version == len(_MIGRATIONS):
            return
        db.execute("begin immediate")
        try:
            for number in range(_version(db), len(_MIGRATIONS)):  # read again: another process may have been first
                db.execute(_MIGRATIONS[number])
            index_new_runs(db)
            db.execute(f"pragma user_version = {len(_MIGRATIONS)}")
            db.execute(f"pragma application_id = {APPLICATION_ID}")
            db.execute("commit")
        except BaseException:
            db.execute("rollback")
            raise


def check_file(path: str) -> list[str]:
    """Defects of a file: SQLite's own findings, logs without a run, runs missing from lists, and unreadable rows; on a
    separate connection."""
    with readable_errors(path):
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = [str(row[0]) for row in db.execute("pragma integrity_check")]
            (lost,) = next(db.execute(_LOST))
            unlisted = [str(row[0]) for row in db.execute(_UNLISTED)]
            malformed = [line for name, sql in _EXAMINED.items() for line in damaged_rows(name, decoded_rows(db, sql))]
        finally:
            db.close()
    wrong = [line for line in found if line != "ok"]
    wrong += [f"run {caller_id(RunId(id))} has no status or no time of creation" for id in unlisted]
    wrong += malformed
    return [*wrong, f"{counted(lost, 'row')} of logs without a run"] if lost else wrong


@contextmanager
def atomic(db: apsw.Connection) -> Generator[None]:
    """All or nothing. Inside a transaction it is a savepoint; otherwise a transaction that takes the write lock at
    once, so that nothing is written between its first read and its first write."""
    within = db.in_transaction
    db.execute("savepoint part" if within else "begin immediate")
    try:
        yield
        db.execute("release part" if within else "commit")
    except BaseException:
        undo(db, "part" if within else None)
        raise


@contextmanager
def without_waiting(db: apsw.Connection) -> Generator[None]:
    """Transactions inside don't wait for the disk: the next one that does includes them."""
    before = db.pragma("synchronous")
    db.pragma("synchronous", "NORMAL")
    try:
        yield
    finally:
        db.pragma("synchronous", before)


def undo(db: apsw.Connection, savepoint: str | None = None) -> None:
    """Rolls back the transaction, or to a savepoint."""
    if not db.in_transaction:
        return  # SQLite has rolled back by itself, for example because the disk is full
    if savepoint is None:
        db.execute("rollback")
    else:
        db.execute(f"rollback to {savepoint}")
        db.execute(f"release {savepoint}")


@contextmanager
def readable_errors(path: str) -> Generator[None]:
    """Converts SQLite's errors to ours: what happened, why, what to do."""
    try:
        yield
    except apsw.Error as error:
        raise_readable(error, path)


def raise_readable(error: apsw.Error, path: str) -> NoReturn:
    """Raises one of our errors; the original one, if it is a bug."""
    ours = _readable(error, path)
    if ours is None:
        raise error
    raise ours from error


def _readable(error: apsw.Error, path: str) -> Unavailable | None:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            why = f"another program keeps a write transaction open ({error})"
            return Unavailable(
                "store.locked", f"{path} is locked", why=why, fix="end that program, or wait and try again"
            )
        case apsw.ReadOnlyError():
            fix = "give this user write access to it"
            return Unavailable("store.read_only", f"{path} can't be written", why=str(error), fix=fix)
        case apsw.FullError():
            fix = "free disk space; nothing was lost"
            return Unavailable("store.full", f"no space left to write {path}", why=str(error), fix=fix)
        case apsw.InterruptError():
            fix = "ask an engine that is open"
            return Unavailable("kernel.closed", f"{path} was closed while it was read", fix=fix)
        case apsw.NotADBError():
            return Unavailable("store.not_a_database", f"{path} is not a SQLite file", fix="name another file")
        case apsw.CorruptError() | apsw.IOError() | apsw.CantOpenError():
            fix = "check the disk and the path"
            return Unavailable("store.unreadable", f"{path} can't be read or written", why=str(error), fix=fix)
        case _:
            return None


def _check_folder(path: str) -> None:
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise Unavailable("store.no_folder", f"the folder {folder} does not exist", fix=f"make it: mkdir -p {folder}")


def _create_private(path: str) -> None:
    """Creates a new file for its owner only: it contains inputs and results of runs, and perhaps the signing secret.
    SQLite gives the journals beside it the same permissions. An existing file keeps its own."""
    with suppress(OSError):  # it exists, or SQLite explains better why it can't
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE))


def _check_ours(db: apsw.Connection, path: str) -> None:
    # In this order: another process may be creating the tables, and sets the id in the same transaction
    (tables,) = next(db.execute("select count(*) from sqlite_master"))
    (application,) = next(db.execute("pragma application_id"))
    if tables and application != APPLICATION_ID:
        raise Unavailable(
            "store.not_plait", f"{path} holds another program's tables", fix="name another file; this one is untouched"
        )


def check_readable(db: apsw.Connection, path: str) -> None:
    """Raises if the file is not ours, or if a newer Plait wrote it."""
    (application,) = next(db.execute("pragma application_id"))
    if application != APPLICATION_ID:
        raise Unavailable("store.not_plait", f"{path} is no database of Plait's", fix="name another file")
    _check_version(_version(db), path)


def _check_version(version: int, path: str) -> None:
    if version > len(_MIGRATIONS):
        raise Unavailable(
            "store.schema_too_new",
            f"{path} has schema version {version}",
            why=f"this Plait knows versions up to {len(_MIGRATIONS)}",
            fix="use the Plait release that wrote it, or a newer one",
        )


def _version(db: apsw.Connection) -> int:
    return int(next(db.execute("pragma user_version"))[0])
