"""API keys."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plait.kernel.ids import Millis

from .caller import Role
from .shape import Body, Shape
from .task import QueueName

FACET_PATTERN = r"[A-Za-z_*][A-Za-z0-9_.*]{0,199}"
FacetPattern = Annotated[str, Meta(pattern=rf"^{FACET_PATTERN}\Z")]

MOST_STARTS = 1_000_000
MOST_RUNNING = 100_000
_TEN_YEARS = 10 * 365 * 86_400


class Key(Shape, frozen=True, kw_only=True):
    """What may be shown of a key."""

    id: str
    name: str
    role: Role
    namespace: str
    created_at: Millis
    expires_at: Millis | None = None
    revoked_at: Millis | None = None
    last_used_at: Millis | None = None
    queues: list[str] | None = None
    """The queues that a worker may serve; left out: all of its namespace."""
    facets: list[str] | None = None
    """Patterns of what an agent may do, such as `geo.*`; left out: all of its namespace."""
    pii: bool = False
    """Whether it has the right `pii:read` and sees personal values. Administrators always do."""
    start_rate: int | None = None
    """Maximum number of runs that it may start per second; left out: no limit."""
    max_running: int | None = None
    """Maximum number of its runs in progress in a namespace; left out: no limit."""


class CreatedKey(Key, frozen=True, kw_only=True):
    key: str
    """The key itself. It can't be shown again."""


class KeyList(Shape, frozen=True, kw_only=True):
    keys: list[Key]


class NewKey(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=100)]
    role: Role
    namespace: Annotated[str, Meta(pattern=r"^([a-z0-9][a-z0-9_-]{0,62}|\*)\Z")] | None = None
    """The namespace, or `*` for all; the caller's if left out."""
    expires_in: Annotated[int, Meta(ge=1, le=_TEN_YEARS)] | None = None
    """Seconds until the key expires; never if left out."""
    queues: Annotated[list[QueueName], Meta(min_length=1, max_length=100)] | None = None
    """For a worker: the queues it may serve; all of its namespace if left out."""
    facets: Annotated[list[FacetPattern], Meta(min_length=1, max_length=100)] | None = None
    """For an agent: what it may do, such as `geo.*`; all of its namespace if left out."""
    pii: bool = False
    """Whether to grant the right `pii:read`."""
    start_rate: Annotated[int, Meta(ge=1, le=MOST_STARTS)] | None = None
    """Maximum number of runs that it may start per second, counted by each server process; no limit if left out."""
    max_running: Annotated[int, Meta(ge=1, le=MOST_RUNNING)] | None = None
    """Maximum number of its runs in progress in a namespace; no limit if left out."""
