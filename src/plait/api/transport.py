"""Requests to a server, as the dialects' parts of a client see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

Parameters = Mapping[str, str | int | list[str] | None]
"""Parameters of a query. Those that are None are left out."""


class Transport(Protocol):
    def path(self, *parts: str) -> str:
        """Returns the address of a resource of the API; parts may contain any character."""
        ...

    async def get(self, path: str, shape: type[T], query: Parameters | None = None) -> T: ...

    async def post(
        self,
        path: str,
        shape: type[T],
        body: Mapping[str, Any],
        query: Parameters | None = None,
        *,
        idempotent: bool = False,
    ) -> T:
        """Sends a POST. An `idempotent` one is sent again if the connection breaks. Leaves out fields that are None."""
        ...

    async def put(self, path: str, shape: type[T], body: Mapping[str, Any], query: Parameters | None = None) -> T:
        """Sends a PUT, again if the connection breaks. Leaves out fields that are None."""
        ...

    async def delete(self, path: str, shape: type[T], query: Parameters | None = None) -> T: ...
