"""Pool names: each tells which code an engine must have to own its runs, one name or several that are all needed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

AND = " + "
"""Separates the code names in a pool's name; `fleet.sql` repeats it."""
FOLLOW = ""
"""In place of a pool's name: the run has moved already, and its later inputs follow it."""
HOME = AND
"""In place of a pool's name: the run returns to the shard of its id, to be ended there without its code."""
_LONGEST = 1000
"""Most characters of a pool's name, which is indexed."""


class Code(Protocol):
    """The code that an engine has loaded."""

    def has(self, name: str) -> bool: ...


def pool_of(names: Collection[str]) -> str | None:
    """The pool's name; None if it would be empty or too long: the run stays where it is."""
    name = AND.join(sorted(set(names)))
    return name if 0 < len(name) <= _LONGEST else None


def parts_of(pool: str) -> frozenset[str]:
    return frozenset(pool.split(AND))
