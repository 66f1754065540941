"""The language models that an engine has, by the names that workflows use."""

from __future__ import annotations

from collections.abc import Mapping

from .model import Model


class Models:
    def __init__(self, known: Mapping[str, Model] | None = None) -> None:
        self._known = dict(known or {})

    def get(self, name: str) -> Model | None:
        return self._known.get(name)

    @property
    def names(self) -> list[str]:
        return sorted(self._known)
