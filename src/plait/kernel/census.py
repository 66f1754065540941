"""The owners of a store's shards, and the store's backlog."""

from __future__ import annotations

import msgspec

from .ids import Millis
from .leases import Lease


class Owner(msgspec.Struct, frozen=True, gc=False):
    """An engine that holds shards, or held them when it died."""

    name: str
    shards: int
    expires: Millis
    pool_shards: int = 0


class Census(msgspec.Struct, frozen=True, gc=False):
    """The backlog of the whole store."""

    inbox: int
    """Inputs that no owner has taken."""
    approvals: int
    dead_letters: int
    blocked: int
    due: Millis | None
    """When the next timer fires."""
    oldest_input: Millis | None
    """When the oldest of those inputs was sent."""


class Standing(msgspec.Struct, frozen=True, gc=False):
    """What an engine owns after a renewal, and how many live engines share the shards."""

    leases: list[Lease]
    engines: int
