"""The language models of an engine, by the names that workflows use, and whether their prices are known."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .model import Model


class Models:
    def __init__(self, known: Mapping[str, Model] | None = None, priced: Collection[str] = ()) -> None:
        self._known = dict(known or {})
        self._priced = frozenset(priced)
        self.elsewhere = False
        """Agents run in other processes, which may have other models."""

    def get(self, name: str) -> Model | None:
        return self._known.get(name)

    def lacks_price(self, name: str) -> bool:
        """Whether a model of this process has no known price: a budget in USD could not be enforced."""
        return name in self._known and name not in self._priced

    @property
    def names(self) -> list[str]:
        return sorted(self._known)
