"""The processor's time of a PostgreSQL server on this machine: what a busy neighbour does not change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncpg

_PIDS = (
    "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
    "and backend_type in ('client backend', 'parallel worker')"
)


class ServerTime:
    """Of the connections of one database; those of its helpers that have ended are left out."""

    def __init__(self, connection: asyncpg.Connection[Any]) -> None:
        self._connection = connection

    async def milliseconds(self) -> float | None:
        """So far; None for a server elsewhere."""
        pids = [row[0] for row in await self._connection.fetch(_PIDS)]
        found = [Path(f"/proc/{pid}/schedstat") for pid in pids]
        if not all(path.exists() for path in found):
            return None
        return sum(int(path.read_text().split()[0]) for path in found) / 1e6
