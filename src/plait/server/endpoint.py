"""A route with the host that its handler works on: the site, or what a dialect's handlers need."""

from __future__ import annotations

from dataclasses import dataclass

from plait.api.route import AnyRoute


@dataclass(frozen=True, slots=True)
class Endpoint:
    route: AnyRoute
    host: object

    @property
    def method(self) -> str:
        return self.route.method

    @property
    def full_path(self) -> str:
        return self.route.full_path
