"""Stored configs, addressed by content: `config_ref` instead of `config`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plait.kernel import values
from plait.kernel.errors import PlaitError

from .read import Draft
from .source import ConfigRef, Node

Blobs = Mapping[str, bytes]
"""Stored texts, by the reference in the definition."""


def config_ref(node: Node) -> str | None:
    return node.config_ref.cas_ref if isinstance(node.config_ref, ConfigRef) else node.config_ref


def stored_config(blobs: Blobs, ref: str) -> dict[str, Any] | None:
    found = blobs.get(ref)
    try:
        config = None if found is None else values.parse(found)
    except (PlaitError, UnicodeDecodeError):
        return None
    return cast("dict[str, Any]", config) if isinstance(config, dict) else None


def references(draft: Draft) -> frozenset[str]:
    """The references to stored configs in a definition."""
    found = (config_ref(placed.node) for placed in draft.nodes)
    return frozenset(ref for ref in found if ref is not None)
