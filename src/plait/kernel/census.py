"""Who owns what of a store, and how much waits there."""

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
    """How much waits, in the whole store."""

    inbox: int
    """Inputs that no owner has taken."""
    approvals: int
    dead_letters: int
    blocked: int
    due: Millis | None
    """The timer that fires next."""
    oldest_input: Millis | None
    """When the first of those inputs was sent."""


class Standing(msgspec.Struct, frozen=True, gc=False):
    """What an engine owns after a renewal, and how many engines are alive to share the shards."""

    leases: list[Lease]
    engines: int
