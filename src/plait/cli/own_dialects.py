"""Dialects of the user's own: the bundles in modules that this command has loaded. Every engine it opens has them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.kernel.bundle import Bundle

_found: dict[str, Bundle] = {}


def note(module: ModuleType) -> None:
    """Remembers the dialects of a module that was loaded."""
    from plait.kernel.bundle import is_bundle  # `plait --help` need not wait for it

    _found.update({found.name: found for found in vars(module).values() if is_bundle(found)})


def bundles() -> list[Bundle]:
    return list(_found.values())


def surfaces() -> dict[str, str]:
    """By dialect, where it has its commands; empty if it has none."""
    return {name: bundle.surface for name, bundle in _found.items()}


def forget() -> None:
    """A command begins."""
    _found.clear()
