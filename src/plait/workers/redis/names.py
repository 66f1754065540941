"""Names of keys in Redis. Each namespace has its own, so that key permissions (ACLs) can separate tenants."""

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
    """The in-flight list: results that an engine is about to record."""
    return f"{prefix(namespace)}completion_signals:in_flight"


def agent_jobs(namespace: str) -> str:
    """The list from which agents' workers take jobs."""
    return f"{prefix(namespace)}agent:jobs"


def agent_offers(namespace: str) -> str:
    """A hash of the offered jobs and their state, by id."""
    return f"{prefix(namespace)}agent:jobs:offers"


def agent_results(namespace: str, job_id: str) -> str:
    """The list for the result of one job."""
    return f"{prefix(namespace)}agent:results:{job_id}"


def agent_results_in_flight(namespace: str) -> str:
    """The in-flight list of job results that an engine is about to record."""
    return f"{prefix(namespace)}agent:results:in_flight"


def agent_kept(namespace: str, job_id: str) -> str:
    """The list that tells a worker that an entry of its journal is on disk."""
    return f"{prefix(namespace)}agent:kept:{job_id}"


def cancel_channel(namespace: str, run_id: str) -> str:
    return f"{prefix(namespace)}cancel:{run_id}"
