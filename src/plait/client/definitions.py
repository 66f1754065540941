"""Definitions on a server: the calls of `engine.definitions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plait.api.definition import (
    Definition,
    DefinitionDiff,
    DefinitionList,
    DefinitionVersion,
    SavedVersion,
)
from plait.api.shape import Deleted
from plait.api.transport import Transport
from plait.kernel.ids import DEFAULT_NAMESPACE


class RemoteDefinitions:
    """What can be started, in which versions, and under which tags."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, dialect: str | None = None, namespace: str = DEFAULT_NAMESPACE) -> list[Definition]:
        """Lists definitions by name."""
        query = {"dialect": dialect, "namespace": namespace}
        path = self._transport.path("definitions")
        return (await self._transport.get(path, DefinitionList, query)).definitions

    async def get(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        return await self._transport.get(self._path(name), Definition, {"namespace": namespace})

    async def version(self, name: str, version: str, namespace: str = DEFAULT_NAMESPACE) -> DefinitionVersion:
        """Returns one whole version by its label, its hash or a tag."""
        query = {"materialize": "true", "namespace": namespace}
        return await self._transport.get(self._path(name, "versions", version), DefinitionVersion, query)

    async def save(
        self,
        dialect: str,
        name: str,
        body: Any = None,
        *,
        source: str = "",
        breaking: bool = False,
        expected: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> SavedVersion:
        """Saves a definition as JSON or as source text; durable when this returns. Saving the same again changes
        nothing. With `expected`, only if that is the version that the plain name means."""
        sent = {
            "dialect": dialect,
            "name": name,
            "definition": body if body is not None else source,
            "breaking": breaking,
            "expected": expected,
        }
        path = self._transport.path("definitions")
        return await self._transport.post(path, SavedVersion, sent, {"namespace": namespace}, idempotent=True)

    async def patch(
        self,
        name: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        description: str = "",
        breaking: bool = False,
        expected: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> SavedVersion:
        """Applies operations to the version that the plain name means, and saves the result as the next version."""
        sent = {
            "operations": [*operations],
            "description": description,
            "breaking": breaking,
            "expected": expected,
        }
        return await self._transport.post(self._path(name, "patch"), SavedVersion, sent, {"namespace": namespace})

    async def diff(
        self, name: str, old: str, new: str, namespace: str = DEFAULT_NAMESPACE
    ) -> Sequence[Mapping[str, Any]]:
        """Returns the operations that turn one version into another."""
        query = {"from": old, "to": new, "namespace": namespace}
        return (await self._transport.get(self._path(name, "diff"), DefinitionDiff, query)).operations

    async def delete(self, name: str, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None) -> None:
        """Deletes what is saved as `name`: it is not listed and can't be started any more. Existing runs continue.
        Saving it again restores it. With `expected`, only if that is the version that the plain name means."""
        query = {"namespace": namespace, "expected": expected}
        await self._transport.delete(self._path(name), Deleted, query)

    # -- tags ----------------------------------------------------------------------------------------------------

    async def tags(self, name: str, namespace: str = DEFAULT_NAMESPACE) -> dict[str, str]:
        return (await self.get(name, namespace)).tags

    async def tag(
        self, name: str, tag: str, version: str, namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Sets or moves a tag to a version. With `expected`, only if the tag is on that version now."""
        seen = expected if expected is not None else (await self.tags(name, namespace)).get(tag)
        return await self._move(name, (tag,), {"version": version, "expected": seen}, namespace)

    async def untag(self, name: str, tag: str, namespace: str = DEFAULT_NAMESPACE) -> Definition:
        return await self._transport.delete(self._path(name, "tags", tag), Definition, {"namespace": namespace})

    async def undo(
        self, name: str, tag: str = "main", namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Moves a tag back to where it was before its last move."""
        return await self._move(name, (tag, "undo"), {"expected": expected}, namespace)

    async def redo(
        self, name: str, tag: str = "main", namespace: str = DEFAULT_NAMESPACE, *, expected: str | None = None
    ) -> Definition:
        """Moves a tag forward again to where it was before the last undo."""
        return await self._move(name, (tag, "redo"), {"expected": expected}, namespace)

    async def _move(self, name: str, way: Sequence[str], sent: Mapping[str, Any], namespace: str) -> Definition:
        return await self._transport.post(self._path(name, "tags", *way), Definition, sent, {"namespace": namespace})

    def _path(self, name: str, *parts: str) -> str:
        return self._transport.path("definitions", name, *parts)
