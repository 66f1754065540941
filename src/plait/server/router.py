"""Finds the route for a path.

Paths are split before they are decoded: an id may hold a slash, sent as `%2F`, without becoming two parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote_to_bytes

_KEPT = 1024
"""Maximum number of paths whose route is cached."""


class Routable(Protocol):
    """Anything that can be found by path and method."""

    @property
    def method(self) -> str: ...
    @property
    def full_path(self) -> str: ...


R = TypeVar("R", bound=Routable)


@dataclass(frozen=True, slots=True)
class Match(Generic[R]):
    routes: Mapping[str, R]
    """The path's routes by method."""
    params: Mapping[str, str]

    @property
    def methods(self) -> list[str]:
        """The allowed methods."""
        return [*self.routes, *(["HEAD"] if "GET" in self.routes else []), "OPTIONS"]


class Router(Generic[R]):
    def __init__(self, routes: Iterable[R]) -> None:
        self.match = lru_cache(_KEPT)(self._match)
        """Finds the match for a path as it was sent, without the query. None if no route of any method has this path. A
        path that is not UTF-8 has no route."""
        self._exact: dict[bytes, dict[str, R]] = defaultdict(dict)
        self._patterns: dict[tuple[str, ...], dict[str, R]] = defaultdict(dict)
        for route in routes:
            target = self._patterns[_parts(route.full_path)] if "{" in route.full_path else None
            methods = self._exact[route.full_path.encode()] if target is None else target
            if route.method in methods:
                raise ValueError(f"two routes for {route.method} {route.full_path}")
            methods[route.method] = route

    def _match(self, path: bytes) -> Match[R] | None:
        exact = self._exact.get(path)
        if exact is not None:
            return Match(exact, {})
        parts = path.split(b"/")[1:]
        for pattern, methods in self._patterns.items():
            params = _fit(pattern, parts)
            if params is not None:
                return Match(methods, params)
        return None


def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.split("/")[1:])


def _fit(pattern: tuple[str, ...], parts: list[bytes]) -> dict[str, str] | None:
    if len(pattern) != len(parts):
        return None
    found: dict[str, str] = {}
    for wanted, part in zip(pattern, parts, strict=True):
        if not wanted.startswith("{"):
            if wanted.encode() != part:
                return None
            continue
        try:
            found[wanted[1:-1]] = unquote_to_bytes(part).decode()
        except UnicodeDecodeError:
            return None
        if not part:
            return None
    return found
