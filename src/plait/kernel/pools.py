"""The name of a pool says which code an engine must have to take its runs: one name, or several that are all needed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

AND = " + "
"""Between the names of a pool; `fleet.sql` has it too."""
FOLLOW = ""
"""Instead of the name of a pool: the run has moved already, and what came for it since goes to where it is."""
HOME = AND
"""Instead of the name of a pool: the run goes back to the shard that its id says, to be ended there without code."""
_LONGEST = 1000
"""Characters of a pool's name, which is in an index."""


class Code(Protocol):
    """What an engine has loaded."""

    def has(self, name: str) -> bool: ...


def pool_of(names: Collection[str]) -> str | None:
    """None if that can't be the name of one: the run stays where it is."""
    name = AND.join(sorted(set(names)))
    return name if 0 < len(name) <= _LONGEST else None


def parts_of(pool: str) -> frozenset[str]:
    return frozenset(pool.split(AND))
