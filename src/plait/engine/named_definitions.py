"""Resolves definitions given by name: code loaded for a dialect, or definitions saved in the namespace.

    order            loaded code of that name; without any, the newest saved version
    order@prod       the saved version with that tag, label or hash; without one, the loaded version

So a loaded name needs no read of the store, and a request for a saved version gets it whatever code is loaded. If the
caller names a dialect, only definitions saved for it are found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from plait.definitions.definitions import Definitions
from plait.definitions.saving import other_dialect
from plait.kernel.bundle import Bundle, Resolved
from plait.kernel.definitions import Description, Plan
from plait.kernel.errors import NotFound, PlaitError
from plait.kernel.loader import Loader

T = TypeVar("T")
Use = Callable[[Bundle, object], Awaitable[T]]
"""Applied to a bundle and one of its definitions."""


class NamedDefinitions:
    def __init__(self, loader: Loader, definitions: Definitions) -> None:
        self._loader = loader
        self._definitions = definitions

    async def resolve(self, bundle: Bundle, name: str, input: object, namespace: str, dialect: str = "") -> Resolved:
        """Resolves a name. `bundle` is searched for loaded code; `dialect` is set if the caller named one."""

        def use(owner: Bundle, definition: object) -> Awaitable[Resolved]:
            return owner.resolve(definition, input, namespace)

        resolved, saved = await self._use(use, bundle, name, namespace, dialect)
        if saved is None:
            return resolved
        return msgspec.structs.replace(resolved, definition=saved.name, version=saved.version, dialect=saved.dialect)

    async def plan(self, bundle: Bundle, name: str, input: object, namespace: str, dialect: str = "") -> Plan:
        def use(owner: Bundle, definition: object) -> Awaitable[Plan]:
            return owner.plan(definition, input, namespace)

        plan, saved = await self._use(use, bundle, name, namespace, dialect)
        return plan if saved is None else msgspec.structs.replace(plan, definition=saved.name, version=saved.version)

    async def _use(
        self, use: Use[T], bundle: Bundle, name: str, namespace: str, dialect: str
    ) -> tuple[T, Description | None]:
        saved = None
        if "@" in name:
            saved, name = await self._definitions.pinned(name, namespace, dialect)
        if saved is None:
            try:
                return await use(bundle, bundle.read(name)), None
            except PlaitError as refusal:
                if refusal.status != NotFound.status:
                    raise
                saved = await self._saved(name, namespace, dialect, refusal)
        owner = self._loader.bundle(saved.dialect)
        return await use(owner, owner.read(saved.content())), saved

    async def _saved(self, name: str, namespace: str, dialect: str, refusal: PlaitError) -> Description:
        found = await self._definitions.find(name, namespace)
        if found is None:
            raise await self._definitions.unknown(name, namespace, refusal) from None
        if dialect not in ("", found.dialect):
            raise other_dialect(name, found.dialect) from None
        return found
