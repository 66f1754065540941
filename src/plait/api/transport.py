"""Requests to a server, as the parts of a client that dialects bring see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

Parameters = Mapping[str, str | int | list[str] | None]
"""Of a query. Those that are None are left out."""


class Transport(Protocol):
    def path(self, *parts: str) -> str:
        """The address of a resource of the API; parts may hold any character."""
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
        """`idempotent` requests are sent again when the connection breaks. Fields that are None are left out."""
        ...

    async def put(self, path: str, shape: type[T], body: Mapping[str, Any], query: Parameters | None = None) -> T:
        """Sent again when the connection breaks. Fields that are None are left out."""
        ...

    async def delete(self, path: str, shape: type[T], query: Parameters | None = None) -> T: ...
