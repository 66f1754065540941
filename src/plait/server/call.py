"""A request to one of the server's own routes, with the site as its host."""

from __future__ import annotations

from typing import Any, TypeVar

from plait.api import route
from plait.api.shape import Query

from .site import Site

Q = TypeVar("Q", bound=Query)
B = TypeVar("B")

Call = route.Call[Site, Q, B]
AnyCall = route.Call[Site, Any, Any]
