"""All routes of a server with the dialects that Plait ships, for tests over every one of them."""

from __future__ import annotations

from plait import Engine
from plait.server.app import all_routes
from plait.server.surfaces import surfaces_of

ROUTES = all_routes(surfaces_of(Engine("memory:")))
