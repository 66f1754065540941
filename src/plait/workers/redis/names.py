"""Names of keys in Redis. Each namespace has its own, so that rules for keys (ACLs) can keep tenants apart."""

from __future__ import annotations

from plait.kernel.ids import DEFAULT_NAMESPACE

GROUP = "workers"
"""The consumer group of every stream: each task goes to one of its consumers."""
_STREAMS = "wf.tasks."


def prefix(namespace: str) -> str:
    return "" if namespace == DEFAULT_NAMESPACE else f"tenant:{namespace}:"


def stream(namespace: str, queue: str) -> str:
    return prefix(namespace) + (queue if queue.startswith(_STREAMS) else _STREAMS + queue)


def signals(namespace: str) -> str:
    """The list that workers push results to."""
    return f"{prefix(namespace)}completion_signals"


def in_flight(namespace: str) -> str:
    """The list of results that an engine is about to record."""
    return f"{prefix(namespace)}completion_signals:in_flight"


def cancel_channel(namespace: str, run_id: str) -> str:
    return f"{prefix(namespace)}cancel:{run_id}"
