"""Opens a database: to inspect it, to control runs, or to work on it."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from plait.kernel.errors import InvalidInput, NotFound
from plait.kernel.ids import Ids
from plait.kernel.store import Store
from plait.registry.engine import Engine

from . import own_dialects
from .mcp_servers import servers_of_environment

T = TypeVar("T")

_SQLITE = "sqlite:///"


class Keys(Ids):
    """Keeps the key of the last input sent, to check later whether an engine took it."""

    last = ""

    def key(self) -> str:
        self.last = super().key()
        return self.last


@asynccontextmanager
async def looking(
    db: str,
    definitions: Iterable[object] = (),
    keys: Keys | None = None,
    *,
    create: bool = False,
    store: Store | None = None,
) -> AsyncGenerator[Engine]:
    """Opens an engine that runs nothing: other engines may work on the same database. `store` replaces the database."""
    if not create or db == "memory:":
        must_exist(db)
    every = [*own_dialects.bundles(), *definitions]
    async with Engine(db, work=False, definitions=every, ids=keys, store=store) as engine:
        yield engine


@asynccontextmanager
async def working(db: str, definitions: Iterable[object]) -> AsyncGenerator[Engine]:
    refuse_server(db)
    servers = servers_of_environment()
    async with Engine(db, definitions=[*own_dialects.bundles(), *definitions], mcp_servers=servers) as engine:
        yield engine


def do(work: Coroutine[Any, Any, T]) -> T:
    """Runs a command's work. The engine's warnings go to stderr as plain lines."""
    log, warnings = logging.getLogger("plait"), _Warnings(logging.WARNING)
    log.addHandler(warnings)
    try:
        return asyncio.run(work)
    finally:
        log.removeHandler(warnings)


class _Warnings(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print(f"{record.levelname.lower()}: {record.getMessage()}", file=sys.stderr)


def refuse_server(db: str) -> None:
    """Refuses a server, for commands that need the database."""
    if is_server(db):
        raise InvalidInput(
            "cli.needs_database",
            f"{db} is a server",
            why="this command works on the database itself",
            fix=f"give the database: --db {_SQLITE}plait.db or --db postgresql://user@host/db",
        )


def is_server(url: str) -> bool:
    """Whether this is the address of a server; otherwise it may be a database."""
    return url.lower().startswith(("http://", "https://"))


def must_exist(db: str) -> None:
    """Refuses a missing database: inspecting must not create one, or a mistyped name would show an empty database."""
    refuse_server(db)
    if db == "memory:":
        raise InvalidInput(
            "cli.memory_database",
            "a database in memory can't be inspected",
            why="it belongs to the process that made it, and is gone with it",
            fix=f"use a file: --db {_SQLITE}plait.db",
        )
    path = sqlite_file(db)
    if path is None:
        return
    if path.is_dir():
        raise NotFound(
            "cli.no_database", f"{path} is a folder", fix=f"name the file in it: --db {_SQLITE}{path}/plait.db"
        )
    if not path.exists() or path.stat().st_size == 0:
        why = "the file is empty" if path.exists() else "there is no such file"
        raise NotFound(
            "cli.no_database",
            f"there is no database at {path}",
            why=f"{why}{_where(path)}",
            fix="name it with --db or PLAIT_DB; `plait run` makes a new one",
        )


def is_missing(db: str) -> bool:
    """Whether this names a file that does not exist."""
    path = None if is_server(db) else sqlite_file(db)
    return path is not None and not path.exists()


def sqlite_file(db: str) -> Path | None:
    """Returns the file of a SQLite URL; None for other databases."""
    if not db.startswith(_SQLITE):
        return None
    name = unquote(db.removeprefix(_SQLITE).partition("?")[0])
    return Path(name) if name else None


def _where(path: Path) -> str:
    return "" if path.is_absolute() else f" in {Path.cwd()}"
