"""The limits of a run: checked when a decision is made; breaking one ends the run with a clear error."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ErrorInfo


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may take up. A run that breaks a limit fails with an error that names it."""

    max_events: int = 1_000_000
    """Events in one run's log; those that were compacted don't count."""
    keep_events: int = 20_000
    """Events of a run with a long loop that stay in its log, at least. Older ones are compacted into a snapshot."""
    max_effects: int = 10_000
    """Effects of one decision: the widest fan-out."""
    max_depth: int = 64
    """Children of children."""
    max_payload: int = 16 * 1024 * 1024
    """Bytes of one value."""
    blob_threshold: int = 32 * 1024
    """A larger value is kept by content hash, outside the event."""
    max_queued_messages: int = 10_000
    """Messages that wait for a run to take them."""
    max_recoveries: int = 5
    """How often tasks are started again after their process died, before they count as its cause."""


def exceeded(what: str, count: int, limit: int) -> ErrorInfo:
    return ErrorInfo(
        code="kernel.limit_exceeded",
        message=f"the run reached {count:,} {what}; the limit is {limit:,}",
        kind="limit",
    )
