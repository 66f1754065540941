"""Handlers from a Python module for AFL events: `HANDLERS`, a mapping of facets to functions."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, cast

from plait.dialects.afl.handlers import Registration
from plait.kernel.errors import InvalidInput


def registrations(module: ModuleType) -> list[Registration]:
    named: Any = getattr(module, "HANDLERS", {})
    if not isinstance(named, Mapping):
        raise InvalidInput("AFL_HANDLER", f"HANDLERS of {module.__name__} is no mapping", fix="map facets to functions")
    own = [each for each in vars(module).values() if isinstance(each, Registration)]
    return [*own, *(Registration(str(name), each) for name, each in cast("Mapping[Any, Any]", named).items())]
