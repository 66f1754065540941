"""The language models that an engine has, by the names that workflows use, and whether their prices are known."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .model import Model


class Models:
    def __init__(self, known: Mapping[str, Model] | None = None, priced: Collection[str] = ()) -> None:
        self._known = dict(known or {})
        self._priced = frozenset(priced)
        self.elsewhere = False
        """Agents work in other processes, which may have other models."""

    def get(self, name: str) -> Model | None:
        return self._known.get(name)

    def lacks_price(self, name: str) -> bool:
        """A model of this process that costs nobody knows what: a budget in USD could not be held."""
        return name in self._known and name not in self._priced

    @property
    def names(self) -> list[str]:
        return sorted(self._known)
