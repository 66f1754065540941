"""What the dialects of an engine add to the API. Each names a module; the server reads `routes` and `save` from it."""

from __future__ import annotations

from importlib import import_module

from plait.api.surface import Surface
from plait.engine import Engine


def surfaces_of(engine: Engine) -> list[Surface]:
    """Of the engine's dialects, those that add something."""
    modules = {name: engine.kernel.loader.dialect(name).surface for name in engine.dialects}
    return [_load(name, module, engine) for name, module in modules.items() if module]


def _load(dialect: str, module: str, host: object) -> Surface:
    found = import_module(module)
    return Surface(dialect=dialect, host=host, routes=tuple(found.routes), save=getattr(found, "save", None))
