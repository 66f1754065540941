"""The code that this engine's dialects have loaded, by name."""

from __future__ import annotations

from collections.abc import Mapping

from .bundle import Bundle, HasCode, IsCode, SharesTasks
from .pools import parts_of


class EngineCode:
    def __init__(self, bundles: Mapping[str, Bundle]) -> None:
        self._bundles = bundles
        self._known: frozenset[str] = frozenset()
        """The names found by the last query of the dialects."""

    def names(self) -> list[str]:
        having = [bundle for bundle in self._bundles.values() if isinstance(bundle, HasCode)]
        self._known = frozenset(name for bundle in having for name in bundle.code())
        return sorted(self._known)

    def has(self, name: str) -> bool:
        return name in self._known or name in self.names()

    def has_all_of(self, pool: str) -> bool:
        return parts_of(pool) <= set(self.names())

    def of_tasks(self) -> list[str]:
        """Names of the task code here that engines without it leave to workers."""
        sharing = [bundle for bundle in self._bundles.values() if isinstance(bundle, SharesTasks)]
        return sorted(name for bundle in sharing for name in bundle.task_code())

    def needed(self, dialect: str, definition: str, version: str | None) -> str | None:
        """The name of the code that a run needs; None if any engine will do, or if the dialect is unknown here."""
        try:
            bundle = self._bundles[dialect]
        except KeyError:
            return None
        return bundle.code_of(definition, version) if isinstance(bundle, IsCode) else None

    def missing(self, dialect: str, definition: str, version: str | None) -> str | None:
        """The name of the code that a run needs and this engine lacks."""
        name = self.needed(dialect, definition, version)
        return None if name is None or self.has(name) else name
