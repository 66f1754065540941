"""The code that this engine has: what its dialects loaded, by name."""

from __future__ import annotations

from collections.abc import Mapping

from .bundle import Bundle, HasCode, IsCode
from .pools import parts_of


class EngineCode:
    def __init__(self, bundles: Mapping[str, Bundle]) -> None:
        self._bundles = bundles

    def names(self) -> list[str]:
        having = [bundle for bundle in self._bundles.values() if isinstance(bundle, HasCode)]
        return sorted({name for bundle in having for name in bundle.code()})

    def has_all_of(self, pool: str) -> bool:
        return parts_of(pool) <= set(self.names())

    def needed(self, dialect: str, definition: str, version: str | None) -> str | None:
        """The name of the code that a run needs; None if any engine will do, or the dialect is not known here."""
        try:
            bundle = self._bundles[dialect]
        except KeyError:
            return None
        return bundle.code_of(definition, version) if isinstance(bundle, IsCode) else None

    def missing(self, dialect: str, definition: str, version: str | None) -> str | None:
        """The name of the code that a run needs and this engine has not got."""
        name = self.needed(dialect, definition, version)
        return None if name is None or self._has(dialect, name) else name

    def _has(self, dialect: str, name: str) -> bool:
        bundle = self._bundles[dialect]
        return isinstance(bundle, HasCode) and name in bundle.code()
