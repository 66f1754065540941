"""An agent's attempt as a job for a worker with an agent loop of its own, and the worker's answer. The names are those
of the message protocol, listed in `docs/guides/redis.md`."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Raw

from plait.api.claim_id import ClaimId
from plait.api.task import QueueTask
from plait.conditions.schema import misfits
from plait.kernel import values
from plait.kernel.ids import Millis
from plait.kernel.task_inputs import AgentInput

from .model import Usage
from .preview import preview, reference

VERSION: Final = "1.0"
_VALID_FOR: Final = 600_000
"""Milliseconds within which a worker may start the job: longer than a job waits there, with room for clock skew."""
_Count = Annotated[int, Meta(ge=0, le=2**53)]


class MadeCall(msgspec.Struct, frozen=True):
    tool: str
    args: Any = None


class JobUsage(msgspec.Struct, frozen=True):
    input: _Count = 0
    output: _Count = 0
    cached: _Count = 0


class JobMetadata(msgspec.Struct, frozen=True, kw_only=True):
    tool_calls: list[MadeCall] = []
    tokens_used: _Count = 0
    usage: JobUsage | None = None
    """Usage if known; the cost of a call depends on it."""
    cache_hit: bool = False
    llm_model: str = ""
    execution_time_ms: _Count = 0

    @property
    def tokens(self) -> Usage:
        """If the worker only reports the sum, all of it counts as input; of a cache hit, only its existence is
        known."""
        if self.usage is not None:
            return Usage(self.usage.input, self.usage.output, self.usage.cached)
        return Usage(self.tokens_used, 0, min(self.tokens_used, int(self.cache_hit)))


class JobFailure(msgspec.Struct, frozen=True):
    message: str = ""
    type: str = ""
    retryable: bool = True


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a job ended."""

    status: Literal["completed", "failed"]
    output: Raw = values.NULL
    next_nodes: list[str] | None = None
    reasoning: str = ""
    error: JobFailure = JobFailure()
    metadata: JobMetadata = JobMetadata()


def job_of(task: QueueTask, claim: ClaimId, wanted: AgentInput, allowed: list[str], now: Millis) -> dict[str, Any]:
    """`allowed`: references of the tools that the agent may use."""
    error = task.last_error
    return {
        "version": VERSION,
        "job_id": claim.job_id(),
        "run_id": task.run_id,
        "node_id": wanted.node_id,
        "workflow_tag": wanted.workflow_tag,
        "user_id": wanted.user_id,
        "prompt": wanted.prompt,
        "context": {
            "previous_results": [
                {
                    "node_id": each.node_id,
                    "result_ref": reference(each.output),
                    "preview": preview(values.decode(each.output)),
                }
                for each in wanted.previous
            ],
            "session_id": wanted.session_id or task.run_id,
        },
        "timeout_sec": wanted.timeout,
        "retry_count": task.attempt - 1,
        "token_id": claim.token,
        "tenant_id": task.namespace,
        "to_node": task.node,
        "attempt": task.attempt,
        "idempotency_key": task.key,
        "agent_config": {
            "model": wanted.model,
            "temperature": wanted.temperature,
            "max_tokens": wanted.max_tokens,
            "max_turns": wanted.max_turns,
            "budget": msgspec.to_builtins(wanted.budget),
            "instructions": wanted.instructions,
            "output_schema": values.decode(wanted.output_schema) if wanted.output_schema else None,
        },
        "allowed_tools": allowed,
        "available_next_nodes": None if wanted.next_nodes is None else list(wanted.next_nodes),
        "payload": values.decode(wanted.payload),
        "journal": task.journal,
        "last_error": None if error is None else {"code": error.code, "message": error.message},
        "created_at": now,
        "expires_at": now + _VALID_FOR,
    }


def output_flaws(wanted: AgentInput, output: Raw) -> str:
    """Why an output does not match what the node wants; empty if it does."""
    if not wanted.output_schema:
        return ""
    found = misfits(wanted.output_schema, values.decode(output))
    return "; ".join(f"/output{each.pointer}: {each.message}"[:300] for each in found[:5])
