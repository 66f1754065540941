"""Nodes of the type `agent`: a language model is asked, and may choose where to go on.

What a model may choose from is the node's `available_next_nodes`; whatever
else it names is refused when the answer is settled, and the attempt is tried again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from plait.agents.models import Model, ModelReply, ModelRequest, Models, ScriptedModel, is_model
from plait.kernel.task import Attempt, Task, TaskError
from plait.kernel.task_inputs import ROUTE

from .running.tasks import CALL_AGENT, AgentInput

_decode = msgspec.json.Decoder().decode

__all__ = ["AgentExecutor", "Model", "ModelReply", "ModelRequest", "Models", "ScriptedModel", "is_model"]


class AgentExecutor:
    kinds = (CALL_AGENT,)

    def __init__(self, models: Models) -> None:
        self._models = models

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: AgentInput = task.input
        model = self._models.get(wanted.model)
        if model is None:  # another process may have it, or this one later
            raise TaskError(f"no model `{wanted.model}`", retryable=True)
        return {ROUTE: await model.complete(_request(wanted, task, attempt))}


def _request(wanted: AgentInput, task: Task, attempt: Attempt) -> ModelRequest:
    config: dict[str, Any] = _decode(wanted.config)
    return ModelRequest(
        prompt=str(config.get("prompt") or task.label),
        instructions=str(config.get("instructions") or ""),
        payload=_decode(wanted.payload),
        context={node: _decode(output) for node, output in wanted.context.items()},
        available_next_nodes=wanted.available_next_nodes,
        output_schema=config.get("output_schema"),
        settings=_decode(wanted.settings),
        node_id=wanted.node_id,
        attempt=attempt.number,
        idempotency_key=task.key,
    )
