"""Who takes part: Plait on each store, its peers, and the raw limit of each database.

Peers are pinned, so that a result can be had again; each runs in an environment of its own that the bench makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Store = Literal["sqlite-full", "sqlite-normal", "postgres"]
Kind = Literal["plait", "peer", "limit"]
Joins = Literal["always", "full", "named"]
"""When a subject takes part: in every bench, in a full one, or only when named; a named subject always does."""
Place = Literal["file", "server", "folder"]
"""What a subject is given to write to: an SQLite file, a PostgreSQL database, or a folder for files of its own."""

ALL_WORKS = ("W1", "W2", "W3", "W4", "W5", "W6")


@dataclass(frozen=True)
class Environment:
    """What a peer needs installed: Python packages, and npm packages for a server that is not Python."""

    name: str
    python: tuple[str, ...]
    npm: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    name: str
    kind: Kind
    module: str
    store: Store
    """What it writes to, or the store whose durability its own is closest to: the row it is compared with."""
    environment: Environment | None = None
    """None: the project's own interpreter."""
    place: Place = "file"
    works: tuple[str, ...] = ALL_WORKS
    levels: tuple[int, ...] = (64, 1000)
    """Runs at once, tried in turn; the best counts. Peers have the levels that suit them, and they differ."""
    runs: int = 4000
    """Runs at each level: a few seconds' worth."""
    joins: Joins = "always"


DBOS = Environment("dbos", ("dbos==3.3.0", "uvloop==0.23.0"))
LANGGRAPH = Environment("langgraph", ("langgraph==1.2.20", "langgraph-checkpoint-sqlite==3.1.2", "uvloop==0.23.0"))
RESTATE = Environment(
    "restate",
    ("restate-sdk==1.2.0", "hypercorn==0.18.0", "aiohttp==3.14.5", "uvloop==0.23.0"),
    ("@restatedev/restate-server@1.7.12",),
)

_FEW = (1, 8, 64)
_MORE = (8, 64, 256)

SUBJECTS: tuple[Subject, ...] = (
    Subject("plait/sqlite-full", "plait", "plait_engine", "sqlite-full"),
    Subject("plait/sqlite-normal", "plait", "plait_engine", "sqlite-normal"),
    Subject("plait/postgres", "plait", "plait_engine", "postgres", place="server"),
    Subject("plait/encrypted", "plait", "plait_encrypted", "sqlite-full", works=("W1", "W3")),
    Subject("dbos/sqlite", "peer", "dbos_engine", "sqlite-full", DBOS, levels=_FEW, runs=200),
    Subject(
        "dbos/postgres",
        "peer",
        "dbos_engine",
        "postgres",
        DBOS,
        place="server",
        levels=_FEW,
        runs=200,
        joins="full",
    ),
    Subject(
        "langgraph/sqlite",
        "peer",
        "langgraph_engine",
        "sqlite-full",
        LANGGRAPH,
        works=("W1", "W2", "W3", "W4", "W6"),
        levels=_FEW,
        runs=200,
    ),
    Subject(
        "langgraph/sqlite-tasks",
        "peer",
        "langgraph_tasks",
        "sqlite-full",
        LANGGRAPH,
        works=("W1", "W2", "W3"),
        levels=_FEW,
        runs=200,
        joins="full",
    ),
    Subject(
        "restate",
        "peer",
        "restate_engine",
        "sqlite-full",
        RESTATE,
        place="folder",
        levels=_MORE,
        runs=600,
        joins="named",
    ),
    Subject("limit/sqlite-full", "limit", "sqlite_limit", "sqlite-full"),
    Subject("limit/sqlite-normal", "limit", "sqlite_limit", "sqlite-normal"),
    Subject("limit/postgres", "limit", "postgres_limit", "postgres", place="server"),
)


def choose(names: list[str] | None, *, quick: bool) -> tuple[Subject, ...]:
    """Subjects by name, or by the first part of it for all of a kind; by default, those of a full or quick bench."""
    if names is None:
        unasked = ("always",) if quick else ("always", "full")
        return tuple(subject for subject in SUBJECTS if subject.joins in unasked)
    return tuple(subject for subject in SUBJECTS if {subject.name, subject.name.partition("/")[0]} & set(names))


def named(kind: Kind, store: Store) -> str | None:
    """The name of Plait, or of the limit, on a store."""
    return next((subject.name for subject in SUBJECTS if subject.kind == kind and subject.store == store), None)
