"""What an agent node asks of its model: its own settings, its payload, and what the run, the node and the namespace
allow it."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from plait.kernel.task_inputs import AgentBudget, AgentInput, PreviousResult
from plait.kernel.values import ABSENT

from .decision_builder import DecisionBuilder
from .state import Execution
from .summaries import summarized
from .templates import config_of
from .topology import NodePlan

_MOST_PREVIOUS: Final = 20


class AgentNodeConfig(msgspec.Struct, frozen=True):
    prompt: Any = None
    instructions: str = ""
    output_schema: Raw = ABSENT


_config = msgspec.json.Decoder(AgentNodeConfig)


def agent_input(builder: DecisionBuilder, plan: NodePlan, execution: Execution) -> AgentInput:
    settings, branch, info = plan.ir.agent_config, plan.ir.branch, builder.context.info
    if settings is None:
        raise AssertionError(f"agent `{plan.id}` has no agent_config")
    config = _config.decode(config_of(builder, plan, execution))
    driven = branch is not None and branch.type == "agent_driven"
    limits, budget = builder.run.plan.ir.limits, settings.budget
    return AgentInput(
        model=settings.model,
        prompt=_text(config.prompt) or plan.ir.name or plan.id,
        execution=execution.id,
        generation=execution.generation,
        node_id=plan.id,
        payload=summarized(execution.payload, builder.run.plan.summarized_from),
        instructions=config.instructions,
        output_schema=config.output_schema,
        next_nodes=branch.available_next_nodes if branch is not None and driven else None,
        previous=tuple(_previous(builder, plan)),
        tools=None if settings.available_tools is None else tuple(settings.available_tools),
        limits=tuple(
            tuple(each)
            for each in (plan.ir.capabilities.allowed_tools, builder.run.plan.namespace_policy.allowed_tools)
            if each is not None
        ),
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        max_turns=settings.max_turns,
        timeout=plan.agent_timeout,
        budget=AgentBudget() if budget is None else AgentBudget(budget.max_tokens, budget.max_cost_usd),
        run_budget=AgentBudget(limits.max_llm_tokens, limits.max_cost_usd),
        workflow_tag=info.definition,
        session_id=info.run_id.rpartition("/")[2],
        user_id=info.labels.get("user", ""),
        handler=f"model:{settings.model}",
    )


def _text(prompt: Any) -> str:
    return prompt if isinstance(prompt, str) else "" if prompt is None else msgspec.json.encode(prompt).decode()


def _previous(builder: DecisionBuilder, plan: NodePlan) -> list[PreviousResult]:
    """Outputs of ancestors that have run, newest first."""
    ancestors = builder.run.plan.leading_to(plan.id)
    records = [
        (record.completed_at, node, record.output)
        for node, record in builder.run.state.context.items()
        if record.executions and node != plan.id and node in ancestors
    ]
    newest = sorted(records, key=lambda found: -found[0])
    return [PreviousResult(node, output) for _, node, output in newest[:_MOST_PREVIOUS]]
