"""Handlers and models that a graph names must exist in this process; checked when a run is started."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.agent_step import UNPRICED_FIX
from plait.agents.models import Models
from plait.definitions.flaws import InvalidDefinition, Note
from plait.definitions.nearest import did_you_mean

from .handlers import Handlers
from .running.topology import NodePlan, Topology

INVALID = "graph.invalid"


def check_names(topology: Topology, handlers: Handlers, models: Models) -> None:
    """A process without any handlers starts runs for others, so it refuses none."""
    nodes = list(topology.nodes.values())
    notes = [
        *_models(nodes, models),
        *_prices(topology, models),
        *(_handlers(nodes, handlers) if handlers.names else ()),
    ]
    if notes:
        raise InvalidDefinition(INVALID, notes)


def left_to_workers(topology: Topology, handlers: Handlers) -> list[str]:
    """Warnings of a process without any handlers: nodes whose work needs a worker."""
    if handlers.names:
        return []
    nodes = topology.nodes.values()
    return [
        f"no handler `{plan.handler}` here: node `{plan.id}` waits for a worker on queue `{plan.queue}` that has it"
        for plan in nodes
        if plan.work == "call" and "url" not in plan.ir.config
    ]


def _handlers(nodes: list[NodePlan], handlers: Handlers) -> Iterator[Note]:
    for plan in nodes:
        elsewhere = plan.ir.queue or "url" in plan.ir.config or plan.queue != f"wf.tasks.{plan.ir.type}"
        if plan.work == "call" and not elsewhere and not handlers.known(plan.handler):
            what = f"no handler `{plan.handler}` for node `{plan.id}`"
            fix = did_you_mean(plan.handler, handlers.names, f"registered: {', '.join(handlers.names)}")
            yield Note(f"/nodes/{plan.id}", what, f"{fix}; or give the node a queue", "graph.unknown_handler")


def _prices(topology: Topology, models: Models) -> Iterator[Note]:
    """Refuses a budget for a model without a price: it could not be enforced."""
    limits = topology.ir.limits
    for plan in topology.nodes.values():
        settings = plan.ir.agent_config
        if plan.work != "agent" or settings is None or not models.lacks_price(settings.model):
            continue
        own = settings.budget is not None and settings.budget.max_cost_usd is not None
        if own or limits.max_cost_usd is not None:
            what = f"node `{plan.id}` has a budget in USD, but the price of model `{settings.model}` is not known"
            at = f"/nodes/{plan.id}/agent_config/budget/max_cost_usd" if own else "/limits/max_cost_usd"
            yield Note(at, what, UNPRICED_FIX, "graph.unpriced_model")


def _models(nodes: list[NodePlan], models: Models) -> Iterator[Note]:
    """Checks the models of nodes without a queue; those of a queue are up to its workers."""
    for plan in nodes:
        settings = plan.ir.agent_config
        if plan.work != "agent" or settings is None or plan.ir.queue is not None or models.elsewhere:
            continue
        if models.get(settings.model) is None:
            what = f"no model `{settings.model}` for node `{plan.id}`"
            fix = f"registered: {', '.join(models.names) or 'none'}; or give the node a queue"
            yield Note(f"/nodes/{plan.id}/agent_config/model", what, fix, "graph.unknown_model")
