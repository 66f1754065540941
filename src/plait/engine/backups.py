"""Backup and restore of a whole database, by its URL. Engines may run during a backup."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import unquote, urlsplit

from plait.kernel.errors import InvalidInput

_SQLITE = "sqlite:///"


async def backup(url: str, target: Path) -> None:
    """Writes a consistent snapshot of the database to a new file; durable when this returns."""
    if (path := _file(url)) is not None:
        from plait.stores.sqlite.backup import copy_database

        await asyncio.to_thread(copy_database, path, target)
    else:
        from plait.stores.postgres.backup import backup

        await backup(url, target)


async def restore(url: str, source: Path) -> None:
    """Creates a new database from a backup; all or nothing."""
    if (path := _file(url)) is not None:
        from plait.stores.sqlite.backup import copy_database

        await asyncio.to_thread(copy_database, source, path)
    else:
        from plait.stores.postgres.backup import restore

        await restore(url, source)


def _file(url: str) -> Path | None:
    """The path of a SQLite file; None for PostgreSQL."""
    if url.startswith(_SQLITE):
        return Path(unquote(url.removeprefix(_SQLITE).partition("?")[0]))
    if urlsplit(url).scheme in ("postgresql", "postgres"):
        return None
    raise InvalidInput("backup.no_database", "there is nothing to back up", fix="name a SQLite file or PostgreSQL")
