"""Runs a pipeline without a workflow run: for programs, and for the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plait.egress import Egress, EgressSettings
from plait.kernel import values
from plait.scripts.jq import JqPool

from .execution import Execution
from .reading import read
from .requests import Profiles


async def pipeline(
    steps: Sequence[Mapping[str, Any]],
    data: Any = None,
    *,
    egress: EgressSettings | None = None,
    auth_profiles: Profiles | None = None,
) -> Any:
    """Returns the output of the last step for this data.

    Raises `InvalidPipeline` with every flaw before anything runs, and `PipelineError` when a step fails. Requests go
    through the guarded client; `egress` sets the allowed targets.
    """
    read_steps = read(values.decode(values.encode(steps)))
    jq = JqPool()
    try:
        async with Egress(egress) as client:
            execution = Execution(client.send, jq, auth_profiles=auth_profiles)
            return await execution.run(read_steps, values.decode(values.encode(data)))
    finally:
        await jq.stop()
