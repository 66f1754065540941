"""Maps a database URL to a store."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput
from plait.kernel.store import Store
from plait.stores.sqlite.database import Synchronous

_SYNCHRONOUS: dict[str, Synchronous] = {"FULL": "FULL", "NORMAL": "NORMAL"}


def store_of(url: str, clock: Clock) -> Store:
    """`sqlite:///file.db`, `sqlite:///file.db?synchronous=NORMAL`, `postgresql://…`, `memory:`."""
    scheme = urlsplit(url).scheme
    if url.startswith("sqlite:///"):
        return _sqlite(url, clock)
    if scheme in ("postgresql", "postgres"):
        from plait.stores.postgres import PostgresStore

        return PostgresStore(url)
    if url == "memory:":
        from plait.stores.memory import MemoryStore

        return MemoryStore(clock=clock)
    raise InvalidInput(
        "store.bad_url",
        f"{_without_password(url)!r} is not a database Plait knows",
        fix="use sqlite:///plait.db, postgresql://user@host/db or memory:",
    )


def _sqlite(url: str, clock: Clock) -> Store:
    from plait.stores.sqlite import SqliteStore

    path, _, query = url.removeprefix("sqlite:///").partition("?")
    options = parse_qs(query)
    mode = _SYNCHRONOUS.get(options.pop("synchronous", ["FULL"])[0].upper())
    if not path or mode is None or options:
        raise InvalidInput(
            "store.bad_url",
            f"{url!r} is not a SQLite URL Plait understands",
            fix="use sqlite:///plait.db (relative), sqlite:////var/lib/plait.db (absolute), "
            "and ?synchronous=FULL or NORMAL",
        )
    return SqliteStore(unquote(path), synchronous=mode, clock=clock)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", ":***@") if parts.password else url
