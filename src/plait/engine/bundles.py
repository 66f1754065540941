"""The dialects of an engine. One that nothing has asked for yet is not even imported.

A program can only hold a definition of a dialect whose package it has imported; a stored run, a child, a request name
the dialect. So these two, an imported package and a name, are what makes a dialect load.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from plait.kernel.bundle import Bundle


@dataclass(frozen=True, slots=True)
class LazyBundle:
    """A dialect that is made when something asks for it."""

    name: str
    package: str
    make: Callable[[], Bundle]


class Bundles(dict[str, Bundle]):
    """By name. Its items are those that are loaded; to look one up loads it."""

    def __init__(self, loaded: Callable[[Bundle], None]) -> None:
        super().__init__()
        self._loaded = loaded
        self._lazy: dict[str, LazyBundle] = {}

    def add(self, dialect: Bundle | LazyBundle) -> None:
        """One of the same name takes the place of another."""
        if isinstance(dialect, LazyBundle):
            self._lazy[dialect.name] = dialect
            return
        self._lazy.pop(dialect.name, None)
        self[dialect.name] = dialect
        self._loaded(dialect)

    def __missing__(self, name: str) -> Bundle:
        if name not in self._lazy:
            raise KeyError(name)
        self.add(self._lazy[name].make())
        return self[name]

    def load_imported(self) -> list[Bundle]:
        """Loads those that a program may have definitions of; returns what is new."""
        return [self[lazy.name] for lazy in list(self._lazy.values()) if lazy.package in sys.modules]

    def load_all(self) -> None:
        for name in list(self._lazy):
            _ = self[name]
