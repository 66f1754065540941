"""Definitions on a server: the calls of `engine.definitions`."""

from __future__ import annotations

from plait.api.definition import Definition, DefinitionList
from plait.api.transport import Transport
from plait.kernel.ids import DEFAULT_NAMESPACE


class RemoteDefinitions:
    """What can be started, in which versions, and under which tags."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, dialect: str | None = None, namespace: str = DEFAULT_NAMESPACE) -> list[Definition]:
        """By name."""
        query = {"dialect": dialect, "namespace": namespace}
        path = self._transport.path("definitions")
        return (await self._transport.get(path, DefinitionList, query)).definitions
