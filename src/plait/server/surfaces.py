"""What the dialects of an engine add to the API: `routes` and `save` of the module `routes` in their surface."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from plait.api.surface import Surface
from plait.engine import Engine


def surfaces_of(engine: Engine) -> list[Surface]:
    """Of the engine's dialects, those that add something."""
    modules = {name: f"{bundle.surface}.routes" for name, bundle in engine.bundles.items() if bundle.surface}
    return [_load(name, module, engine) for name, module in modules.items() if find_spec(module) is not None]


def _load(dialect: str, module: str, host: object) -> Surface:
    found = import_module(module)
    return Surface(dialect=dialect, host=host, routes=tuple(found.routes), save=getattr(found, "save", None))
