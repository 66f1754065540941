"""The limits of a run: checked when a decision is made; breaking one ends the run with a clear error."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ErrorInfo


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run. A run that exceeds one fails with an error that names it."""

    max_events: int = 1_000_000
    """Most events in one run's log; compacted ones don't count."""
    keep_events: int = 20_000
    """Fewest events that stay in the log of a run with a long loop. Older ones are compacted into a snapshot."""
    max_effects: int = 10_000
    """Most effects of one decision: the widest fan-out."""
    max_depth: int = 64
    """Most levels of nested children."""
    max_payload: int = 16 * 1024 * 1024
    """Most bytes of one value."""
    blob_threshold: int = 32 * 1024
    """Bytes above which a value is kept by content hash, outside the event."""
    max_queued_messages: int = 10_000
    """Most messages in a run's backlog."""
    max_recoveries: int = 5
    """How often interrupted tasks are restarted before they count as the cause of their process's death."""


def exceeded(what: str, count: int, limit: int) -> ErrorInfo:
    return ErrorInfo(
        code="kernel.limit_exceeded",
        message=f"the run reached {count:,} {what}; the limit is {limit:,}",
        kind="limit",
    )
