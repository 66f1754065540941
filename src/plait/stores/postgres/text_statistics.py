"""Chooses the trigrams for which a text search asks the index.

An index of ten million texts has some trigrams in nearly every one: a namespace of most runs, the words of a label that
all have. Asking for them costs a step in a long list for each text that has the rare ones, and excludes almost none;
the text itself is checked anyway. The server has counted the common ones, for its own planner.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plait.stores import statements

from .database import Connection

SQL = statements.load("plait.stores.postgres", "run_texts.sql")

_FRESH = 300.0
"""Seconds for which statistics are cached."""
_SMALL = 100_000
"""Number of texts below which all trigrams are used."""
_COMMON = 0.1
"""Share of all texts above which a trigram is only used if there is no rarer one."""
_LEFT = 100
"""Approximate number of remaining texts for which no further trigram pays off."""


@dataclass(frozen=True, slots=True)
class TextStatistics:
    texts: int = 0
    """Approximate number of texts; 0: unknown."""
    common: Mapping[str, float] = field(default_factory=dict[str, float])
    """Share of all texts that contain a trigram, for the most common trigrams."""
    rare: float = 1.0
    """Upper bound of the share of any other trigram."""

    def rarest(self, groups: Sequence[str]) -> list[str]:
        """The trigrams of a text that leave few texts to check."""
        if self.texts < _SMALL:
            return list(groups)
        ordered = sorted(groups, key=self._share)
        found, left = ordered[:1], self.texts * self._share(ordered[0])
        for group in ordered[1:]:
            share = self._share(group)
            if left < _LEFT or (share > _COMMON and left < self.texts * _COMMON):
                break
            found.append(group)
            left *= share
        return found

    def expected(self, groups: Sequence[str]) -> int | None:
        """Upper bound of the number of texts that contain all of them; None: unknown."""
        if self.texts < _SMALL:
            return None
        return round(self.texts * min(self._share(group) for group in groups))

    def worth_asking(self, namespaces: Iterable[str]) -> list[str]:
        """Namespaces with few enough runs to use them in the index."""
        if self.texts < _SMALL:
            return list(namespaces)
        return [space for space in namespaces if self._share(f"//{space}") <= _COMMON]

    def _share(self, group: str) -> float:
        return self.common.get(group, self.rare)


UNKNOWN = TextStatistics()


class TextCounts:
    """The server's statistics, cached."""

    def __init__(self) -> None:
        self._known = UNKNOWN
        self._until = 0.0

    async def take(self, connection: Connection) -> TextStatistics:
        now = time.monotonic()
        if now >= self._until:
            self._known = _statistics(await connection.fetchrow(SQL["group_shares"]))
            self._until = now + _FRESH
        return self._known


def _statistics(row: Any) -> TextStatistics:
    if row is None:
        return UNKNOWN
    groups, shares, texts = row
    common: dict[str, float] = dict(zip(groups, shares, strict=False))  # shares ends with the minimum and the maximum
    return TextStatistics(texts, common, min(common.values(), default=1.0))
