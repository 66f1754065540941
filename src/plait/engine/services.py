"""Services of an engine for its bundles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from plait.agents.models import Models
from plait.kernel.clock import Clock
from plait.kernel.ids import RunId
from plait.kernel.limits import Limits
from plait.kernel.observer import Observers
from plait.kernel.records import Records
from plait.kernel.subscriptions import Subscriptions
from plait.workers.common import CommonExecutors


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts that dialects are built with."""

    records: Records
    clock: Clock
    limits: Limits
    subscriptions: Subscriptions
    observers: Observers
    executors: CommonExecutors
    models: Models
    alive: Callable[[], Any]
    """Returns, awaited, the hosts with live engines."""
    watches: bool
    """Time is real, so background monitoring makes sense."""
    tell: Callable[[RunId, str, object], Awaitable[None]]
    """Sends a named message to a run; durable when awaited."""
