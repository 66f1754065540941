"""Numbers for new runs, and the numbers of known ones, on PostgreSQL.

A commit is one statement, which can't both draw a run's number and use it for its log. So some numbers are drawn from
the sequence in advance. Those unused when an engine stops are lost, which does no harm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from plait.kernel.ids import RunId
from plait.kernel.store import Write
from plait.stores.run_numbers import RunNumbers

from .database import SQL, Connection

AHEAD = 200
"""How many are drawn at a time."""


class PostgresRunNumbers(RunNumbers):
    def __init__(self) -> None:
        super().__init__()
        self._drawn: deque[int] = deque()

    async def find(self, connection: Connection, writes: Sequence[Write]) -> dict[RunId, int]:
        """The numbers of the writes' runs that are new or were not used recently. A missing run has none."""
        found: dict[RunId, int] = {}
        created = [write.run_id for write in writes if write.create is not None]
        if created:
            await self._draw(connection, len(created))
            found = {run_id: self._drawn.popleft() for run_id in created}
        unknown = {
            write.run_id
            for write in writes
            if (write.log is not None or write.copies) and write.run_id not in found and not self.get(write.run_id)
        }
        if unknown:
            found |= dict(map(tuple, await connection.fetch(SQL["numbers_of"], list(unknown))))
        return found

    async def of(self, connection: Connection, run_id: RunId) -> int | None:
        """The number of a run; its owner usually has it cached."""
        return self.get(run_id) or await self.look_up(connection, run_id)

    async def look_up(self, connection: Connection, run_id: RunId) -> int | None:
        """The number as the database has it now: a run may have been removed, and its id reused."""
        return next((row[1] for row in await connection.fetch(SQL["numbers_of"], [run_id])), None)

    async def _draw(self, connection: Connection, needed: int) -> None:
        if len(self._drawn) < needed:
            self._drawn += [row[0] for row in await connection.fetch(SQL["draw_numbers"], needed + AHEAD)]
