"""Transports of agent tasks: in the engine's own process, or by a queue that workers serve.

process   the engine itself, unless a node names a queue
queue     workers on the queue `agent`, over HTTP or on the same database
stream    the same, and workers that read the stream `wf.tasks.agent` of Redis
list      workers that read jobs from the list `agent:jobs` of Redis, and answer in `agent:results:<job_id>`
"""

from __future__ import annotations

from typing import Final, Literal

from plait.kernel.errors import InvalidInput
from plait.kernel.task_inputs import AGENT, AGENT_QUEUE

AgentTransport = Literal["process", "queue", "stream", "list"]
_KNOWN: Final = ("process", "queue", "stream", "list")


def agent_queues(transport: AgentTransport, redis: str | None) -> dict[str, str]:
    """Queues by kind for agent tasks that name none. Raises `InvalidInput`."""
    if transport not in _KNOWN:
        fix = f"use one of {', '.join(_KNOWN)}"
        raise InvalidInput("agent.bad_transport", f"agent_transport {str(transport)[:80]!r}", fix=fix)
    if transport in ("stream", "list") and redis is None:
        raise InvalidInput(
            "agent.bad_transport",
            f"agents can't go by the transport `{transport}`",
            why="the engine has no Redis",
            fix="give it one: redis=…, --redis or PLAIT_REDIS",
        )
    return {} if transport == "process" else {AGENT: AGENT_QUEUE}
