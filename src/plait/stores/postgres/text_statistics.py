"""Which groups of characters a text search asks the index for.

An index of ten million texts has some groups in nearly every one: a namespace that most runs are in, the words of a
label that all have. To ask for them costs a step in a long list for each text that has the rare ones, and leaves out
next to none; the text itself is checked anyway. The server has counted the common ones, for its own planner.
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
"""Seconds."""
_SMALL = 100_000
"""Texts that are few enough to ask for all groups."""
_COMMON = 0.1
"""Of all texts: a group that more have is asked for only where there is no rarer one."""
_LEFT = 100
"""Texts to look at, about, that are worth no further group."""


@dataclass(frozen=True, slots=True)
class TextStatistics:
    texts: int = 0
    """About; 0: nobody has counted."""
    common: Mapping[str, float] = field(default_factory=dict[str, float])
    """The share of all texts that have a group, of the commonest groups."""
    rare: float = 1.0
    """The share that no other group has."""

    def rarest(self, groups: Sequence[str]) -> list[str]:
        """Of the groups of a text those that leave few texts to look at."""
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
        """How many texts have all of them, at most; None: nobody knows."""
        if self.texts < _SMALL:
            return None
        return round(self.texts * min(self._share(group) for group in groups))

    def worth_asking(self, namespaces: Iterable[str]) -> list[str]:
        """Those whose runs are few enough."""
        if self.texts < _SMALL:
            return list(namespaces)
        return [space for space in namespaces if self._share(f"//{space}") <= _COMMON]

    def _share(self, group: str) -> float:
        return self.common.get(group, self.rare)


UNKNOWN = TextStatistics()


class TextCounts:
    """What the server has counted, looked up now and then."""

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
    common: dict[str, float] = dict(zip(groups, shares, strict=False))  # shares go on with the least and the most
    return TextStatistics(texts, common, min(common.values(), default=1.0))
