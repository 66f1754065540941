"""Finding the route of a path.

Paths are taken apart before they are decoded: an id may hold a slash, sent as `%2F`, without becoming two parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from .routes import AnyRoute


@dataclass(frozen=True, slots=True)
class Match:
    routes: Mapping[str, AnyRoute]
    """By method."""
    params: Mapping[str, str]


class Table:
    def __init__(self, routes: Iterable[AnyRoute]) -> None:
        self._exact: dict[bytes, dict[str, AnyRoute]] = defaultdict(dict)
        self._shaped: dict[tuple[str, ...], dict[str, AnyRoute]] = defaultdict(dict)
        for route in routes:
            target = self._shaped[_parts(route.full_path)] if "{" in route.path else None
            methods = self._exact[route.full_path.encode()] if target is None else target
            if route.method in methods:
                raise ValueError(f"two routes for {route.method} {route.full_path}")
            methods[route.method] = route

    def match(self, raw_path: bytes) -> Match | None:
        """None if no route has that path, whatever the method. A path that is no UTF-8 has no route."""
        exact = self._exact.get(raw_path)
        if exact is not None:
            return Match(exact, {})
        parts = raw_path.split(b"/")[1:]
        for pattern, methods in self._shaped.items():
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
