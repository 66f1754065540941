"""The user's own dialects: the bundles in modules that this command has loaded. Every engine it opens has them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.kernel.bundle import Bundle

_found: dict[str, Bundle] = {}


def note(module: ModuleType) -> None:
    """Registers the dialects of a loaded module."""
    from plait.kernel.bundle import is_bundle  # imported late: `plait --help` does not need it

    _found.update({found.name: found for found in vars(module).values() if is_bundle(found)})


def bundles() -> list[Bundle]:
    return list(_found.values())


def surfaces() -> dict[str, str]:
    """Returns the surface packages by dialect; empty if a dialect has none."""
    return {name: bundle.surface for name, bundle in _found.items()}


def forget() -> None:
    """Clears the list when a command begins."""
    _found.clear()
