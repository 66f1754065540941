"""A copy of our schema in one file, and its restore.

    backup.json          format, schema version, the columns of each table, where the sequences are
    tables/<name>        its rows, as COPY … (format binary) gives them

All rows are read in one transaction, so they are a consistent snapshot, whatever engines write meanwhile. A restore
creates the schema of that version and copies the rows back, all or nothing; the next engine that opens the database
migrates it to a newer schema.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from plait.kernel.errors import Damaged, InvalidInput
from plait.stores import statements
from plait.stores.new_file import new_file

from .database import (
    Address,
    Connection,
    SchemaState,
    connect,
    make_schema,
    readable_errors,
    schema_state,
    without_retry,
)
from .log_partitions import PARTITIONS, remake
from .online_steps import NO_LIMIT
from .run_texts import fill_run_texts

_SQL = statements.load("plait.stores.postgres", "backup.sql")
_FORMAT = "plait.backup/1"
_MANIFEST = "backup.json"
_PATIENT = {"idle_in_transaction_session_timeout": "0"}
"""Writing may take a while between two tables."""


class Manifest(msgspec.Struct, frozen=True):
    format: str
    version: int
    columns: dict[str, list[str]]
    """Columns by table."""
    sequences: dict[str, int]


async def backup(url: str, target: Path) -> None:
    """Writes a backup, atomically. Refuses to overwrite a file."""
    address = Address(url)
    with without_retry(), readable_errors(address), _written(target) as archive:
        connection = await connect(address, _PATIENT)
        try:
            await _state(connection, address)
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                await connection.execute(_SQL["keep_logs"])
                await _write(connection, address, archive)
        finally:
            await connection.close()


@contextmanager
def _written(target: Path) -> Generator[zipfile.ZipFile]:
    """A new archive for its owner only, as the database is; it appears when the block ends, and not before."""
    with new_file(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        yield archive


async def _write(connection: Connection, address: Address, archive: zipfile.ZipFile) -> None:
    version = (await _state(connection, address)).made
    columns: dict[str, list[str]] = {}
    for table, column in await connection.fetch(_SQL["columns"]):
        columns.setdefault(table, []).append(column)
    for table, names in columns.items():
        with archive.open(f"tables/{table}", "w", force_zip64=True) as file:
            # Not as a table: one with partitions has no rows of its own
            query = (
                _SQL["rows"].replace("any_table", table).replace("any_columns", ", ".join(map('"{}"'.format, names)))
            )
            await connection.copy_from_query(query, output=cast("BinaryIO", file), format="binary", timeout=NO_LIMIT)
    # Read last: a sequence advances outside of transactions, and must not be behind any row
    found = await connection.fetch(_SQL["sequences"])
    sequences: dict[str, int] = {row["sequencename"]: row["last_value"] for row in found}
    archive.writestr(_MANIFEST, msgspec.json.encode(Manifest(_FORMAT, version, columns, sequences)))


async def _state(connection: Connection, address: Address) -> SchemaState:
    state = await schema_state(connection, address)
    if state is None:
        raise InvalidInput("backup.nothing", f"{address} has no schema `plait`", fix="name the database of Plait")
    if state.step:
        raise InvalidInput(
            "backup.migrating",
            f"{address} is being brought to a newer schema",
            why="what is half made could not be restored",
            fix="wait until the engine that does it is through, or use pg_dump",
        )
    return state


async def restore(url: str, source: Path) -> None:
    """Restores into a database without a schema `plait`, or with an empty one; all or nothing."""
    address = Address(url)
    with without_retry(), readable_errors(address), _opened(source) as archive:
        manifest = _manifest(archive)
        connection = await connect(address, _PATIENT)
        try:
            async with connection.transaction():
                await _make(connection, address, manifest)
                await _read(connection, archive, manifest)
        finally:
            await connection.close()


async def _make(connection: Connection, address: Address, manifest: Manifest) -> None:
    if await schema_state(connection, address) is not None:
        raise InvalidInput(
            "backup.not_empty",
            f"{address} has a schema `plait` already",
            fix="restore into a new database; this one is untouched",
        )
    await make_schema(connection, address, manifest.version, {"v7": fill_run_texts})


async def _read(connection: Connection, archive: zipfile.ZipFile, manifest: Manifest) -> None:
    for table, names in sorted(manifest.columns.items(), key=lambda each: each[0] != PARTITIONS):  # that table first
        await connection.execute(_SQL["empty"].replace("any_table", table))  # rows inserted by its migrations
        with archive.open(f"tables/{table}") as file:
            await connection.copy_to_table(
                table,
                schema_name="plait",
                columns=names,
                source=cast("BinaryIO", file),
                format="binary",
                timeout=NO_LIMIT,
            )
        if table == PARTITIONS:
            await remake(connection)
    for name, value in manifest.sequences.items():
        await connection.execute(_SQL["set_sequence"], f"plait.{name}", value)


@contextmanager
def _opened(source: Path) -> Generator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError) as error:
        raise InvalidInput(
            "backup.unreadable",
            f"{source} is no backup of a PostgreSQL database",
            why=str(error),
            fix="name a file that `plait backup` made of one",
        ) from None
    with archive:
        try:
            yield archive
        except (KeyError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise Damaged(f"the backup {source} can't be read", str(error)) from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    found = msgspec.json.decode(archive.read(_MANIFEST), type=Manifest)
    if found.format != _FORMAT or not all(name.isidentifier() for name in found.columns):
        raise ValueError(f"its format is {found.format}")
    return found
