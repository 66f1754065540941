"""What a graph does under pressure: nothing, throttle tokens, or summarize payloads; with its defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass

from .limits import QUEUE_DEPTH, SUMMARIZE_BYTES, TOKENS_PER_S
from .source import Backpressure, Limits


@dataclass(frozen=True, slots=True)
class Pace:
    interval: float
    """Milliseconds between two tokens."""
    depth: int
    """The number of tokens that may be held back."""

    def slot(self, at: float, free_from: float) -> tuple[float, float]:
        """When a token that arrives now may go on, and when the next one may."""
        due = max(at, free_from)
        return due, due + self.interval


def pace_of(limits: Limits) -> Pace | None:
    written = limits.backpressure
    if written == "throttle":
        return Pace(1000 / TOKENS_PER_S, QUEUE_DEPTH)
    if not isinstance(written, Backpressure) or written.throttle is None:
        return None
    throttle = written.throttle
    return Pace(1000 / (throttle.tokens_per_s or TOKENS_PER_S), throttle.max_queue_depth or QUEUE_DEPTH)


def summarized_from(limits: Limits) -> int | None:
    """The size in bytes above which agents get a summary of their payload; None: never."""
    written = limits.backpressure
    if written == "summarize":
        return SUMMARIZE_BYTES
    return written.summarize_bytes if isinstance(written, Backpressure) else None
