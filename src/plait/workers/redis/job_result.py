"""The report of an agent job's worker."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.agents.job import JobFailure, JobMetadata, JobResult
from plait.kernel import values
from plait.kernel.errors import InvalidInput

from .signal import Signal


def job_result(signal: Signal, output: Any) -> JobResult:
    """Reads the report; raises `InvalidInput`."""
    try:
        metadata = msgspec.convert(signal.metadata or {}, JobMetadata)
    except msgspec.ValidationError as error:
        raise InvalidInput("redis.bad_signal", "`metadata` can't be read", why=str(error)) from None
    return JobResult(
        status="completed" if signal.status == "completed" else "failed",
        output=output if isinstance(output, msgspec.Raw) else values.encode(output),
        next_nodes=signal.next_nodes,
        reasoning=signal.reasoning or "",
        error=JobFailure(signal.error.message, signal.error.type, signal.error.retryable),
        metadata=metadata,
    )
