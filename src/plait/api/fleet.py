"""The engines on a database, and how far behind they are."""

from __future__ import annotations

from .shape import Shape


class FleetEngine(Shape, frozen=True, kw_only=True):
    name: str
    shards: int
    """Of those that all runs belong to by their ids."""
    pool_shards: int
    """Of those for runs that need code which not every engine has."""
    expires_at: int
    """When its shards are free, unless it is heard of."""


class CodePool(Shape, frozen=True, kw_only=True):
    """Runs that went to engines with their code."""

    code: str
    """`name@version`."""
    runs: int
    engines: int
    """That have it. 0: its runs wait for one."""


class FleetOverview(Shape, frozen=True, kw_only=True):
    engines: list[FleetEngine]
    shards: int
    unowned: int
    """Shards that no engine has: their runs stand still."""
    pools: list[CodePool]
    draining: list[str]
    """Versions that no new run starts on."""
    waiting: int
    """Inputs that no engine has taken."""
    oldest_waiting_ms: int
    """How long the oldest of them has waited."""
    timer_lag_ms: int
    """How long the oldest timer is overdue."""
