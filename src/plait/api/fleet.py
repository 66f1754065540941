"""The engines on a database, and how far behind they are."""

from __future__ import annotations

from .shape import Shape


class FleetEngine(Shape, frozen=True, kw_only=True):
    name: str
    shards: int
    """Its shards among those that runs belong to by their ids."""
    pool_shards: int
    """Its shards among those for runs whose code not every engine has."""
    expires_at: int
    """When its lease expires and frees its shards, unless it is renewed."""


class CodePool(Shape, frozen=True, kw_only=True):
    """Runs that went to engines with their code."""

    code: str
    """`name@version`."""
    runs: int
    engines: int
    """The number of engines that have the code. 0: its runs wait for one."""


class FleetOverview(Shape, frozen=True, kw_only=True):
    engines: list[FleetEngine]
    shards: int
    unowned: int
    """The number of shards without an owner: their runs stand still."""
    pools: list[CodePool]
    draining: list[str]
    """Draining versions, on which no new run starts."""
    waiting: int
    """The number of inputs that no engine has taken yet."""
    oldest_waiting_ms: int
    """Milliseconds that the oldest of them has waited."""
    timer_lag_ms: int
    """Milliseconds that the oldest timer is overdue."""
