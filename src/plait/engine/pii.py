"""Names of fields with personal data, by namespace. Callers without the right to read them get a placeholder.

A run registers its names when it starts: `start(pii_fields=…)`, or the policy of its definition. From then on they are
hidden in the whole namespace: a response may contain values of several runs, and a name means the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.records import Record, Records

_KIND = "pii.field"
_LONGEST = 200
_PAGE = 500


class PiiFields:
    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._known: set[tuple[str, str]] = set()

    async def register(self, namespace: str, names: Iterable[str]) -> None:
        """Registers names; durable when this returns."""
        for name in names:
            if (namespace, name) not in self._known:
                values.text("a field's name", name, max_length=_LONGEST)
                await self._records.put(Record(_KIND, namespace, name, values.NULL, self._clock.now()))
                self._known.add((namespace, name))

    async def of(self, namespace: str) -> frozenset[str]:
        found: list[str] = []
        while page := await self._records.list(_KIND, namespace, after=found[-1] if found else None, limit=_PAGE):
            found += [record.id for record in page]
            if len(page) < _PAGE:
                break
        return frozenset(found)
