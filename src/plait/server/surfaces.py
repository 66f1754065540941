"""What an engine's dialects add to the API: `routes` and `save` of the module `routes` in their surface."""

from __future__ import annotations

from plait.api.surface import Surface, surface_module
from plait.engine import Engine


def surfaces_of(engine: Engine) -> list[Surface]:
    """Returns the surfaces of those dialects of the engine that add something."""
    named = {name: bundle.surface for name, bundle in engine.bundles.items() if bundle.surface}
    return [found for name, surface in named.items() if (found := _load(name, surface, engine)) is not None]


def _load(dialect: str, surface: str, host: object) -> Surface | None:
    found = surface_module(dialect, surface, "routes")
    if found is None:
        return None
    return Surface(dialect=dialect, host=host, routes=tuple(found.routes), save=getattr(found, "save", None))
