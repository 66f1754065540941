"""A compiled graph as a run uses it: what every token needs is computed once, and shared by all runs.

A set of nodes is an integer with a bit for each: whether one of a thousand nodes can still reach another is one `&`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Raw

from plait.dialects.graph.definition.ir import Compiled, Ir, IrNode
from plait.dialects.graph.definition.namespace_policy import NO_POLICY
from plait.dialects.graph.definition.node_types import NodeType
from plait.dialects.graph.definition.pressure import pace_of, summarized_from
from plait.dialects.graph.definition.source import AgentConfig, NodeLimits
from plait.extras import extra
from plait.kernel.retry import MAX_CAP
from plait.kernel.retry import Retry as KernelRetry
from plait.kernel.task import Policy
from plait.kernel.values import ABSENT

from .positions import round_in

if TYPE_CHECKING:
    from .expressions import Computation

Work = Literal["inline", "call", "http", "run", "wait", "human", "agent", "migration", "script", "pipeline", "tool"]
"""What a node does once its tokens are there."""

_AGENT_GRACE = 10.0
"""Seconds that an agent has after its timeout to record its progress, before its attempt is stopped."""
_NO_TYPE = NodeType(type_name="")
_WORK: dict[str, Work] = {
    "decision": "inline",
    "http": "http",
    "run": "run",
    "wait": "wait",
    "human": "human",
    "agent": "agent",
    "migration": "migration",
    "tool": "tool",
}


@dataclass(frozen=True, slots=True)
class NodePlan:
    id: str
    ir: IrNode
    place: int
    """Its bit, and its position in the topological order."""
    joins: bool
    loops: frozenset[str]
    """The loops whose body holds it, by their nodes."""
    work: Work
    policy: Policy
    handler: str
    queue: str
    """The queue for its work if this process does not have its handler."""
    input_schema: Raw
    output_schema: Raw
    """The schemas of its type; absent: anything."""
    config: Raw
    """The config of every execution, if it has no templates."""
    compensates: bool
    agent_timeout: float
    """The most seconds that an agent works."""
    plain: bool
    """Whether it has neither loop nor branch nor guardrail, so that it always emits along its edges."""


class Topology:
    def __init__(self, compiled: Compiled, definition: Raw) -> None:
        self.compiled = compiled
        self.definition = definition
        """The definition as recorded in the log."""
        self.ir: Ir = compiled.ir
        self.conditions = compiled.conditions
        self.templates = compiled.templates
        """The parsed configs, by node."""
        self.output = compiled.output
        self.namespace_policy = compiled.policy
        self.nodes = {
            node.id: _plan(node, compiled, compiled.node_types.get(node.id, _NO_TYPE))
            for node in self.ir.nodes.values()
        }
        self.expressions = _expressions(self.ir)
        self.joins = any(node.joins for node in self.nodes.values())
        self.messages = frozenset(_messages(self.ir))
        self.compensates = any(node.compensates for node in self.nodes.values())
        self.pace = pace_of(self.ir.limits)
        self.summarized_from = summarized_from(self.ir.limits)
        self._ancestors: dict[frozenset[str], dict[str, int]] = {}

    def reaching(self, join: NodePlan, dependency: str) -> int:
        """The nodes from which a token can still reach the dependency of a join in its round: along forward targets,
        and back along loops that the join is not part of."""
        return self._leading(join.loops)[dependency]

    def coming(self, join: NodePlan, dependency: str, round: tuple[int, ...], behind: int) -> int:
        """The nodes from which a token of an earlier round can still reach the dependency in this one. `behind` is the
        outermost loop in which it is behind: this loop must repeat once more, and those inside it start over."""
        loops, inner = join.ir.loops, behind
        for index in range(behind + 1, len(round)):
            inner = index if round[index] > 1 else inner
        loop = self.ir.nodes[loops[inner]].loop
        assert loop is not None
        if not self.reaching(join, dependency) >> self.nodes[loop.loop_back_to].place & 1:
            return 0
        return self._leading(frozenset(loops[: behind + 1]))[loops[behind]]

    def _leading(self, around: frozenset[str]) -> dict[str, int]:
        """By node: the nodes that lead to it, without going back along these loops."""
        found = self._ancestors.get(around)
        if found is None:
            found = self._ancestors[around] = _ancestors(self.ir, around)
        return found

    def reachable_from(self, nodes: Iterable[str]) -> set[str]:
        """The nodes that tokens at these nodes may reach, in any round."""
        found: set[str] = set()
        todo = [node for node in nodes if node in self.nodes]
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo += _targets(self.ir.nodes[node])
        return found

    def leading_to(self, node: str) -> set[str]:
        """The nodes from which a token can reach this one."""
        bits = self._leading(frozenset())[node]
        return {plan.id for plan in self.nodes.values() if bits >> plan.place & 1}

    def round_of(self, node: NodePlan, loops: dict[str, int]) -> tuple[int, ...]:
        """The iterations of the loops around a node, outermost first."""
        return round_in(loops, node.ir.loops) if node.loops else ()


def _ancestors(ir: Ir, around: frozenset[str]) -> dict[str, int]:
    found = {node.id: 1 << node.order for node in ir.nodes.values()}
    backs = [node for node in ir.nodes.values() if node.loop is not None and node.id not in around]
    grown = True
    while grown:
        grown = False
        for node in ir.order:
            mine = found[node]
            for target in ir.nodes[node].dependents:
                found[target] |= mine
        for node in backs:
            assert node.loop is not None
            to = node.loop.loop_back_to
            if found[node.id] & ~found[to]:
                found[to] |= found[node.id]
                grown = True
    return found


def _expressions(ir: Ir) -> dict[str, Computation]:
    found = {
        node.id: node.config["cel"] for node in ir.nodes.values() if node.type == "transform" and "cel" in node.config
    }
    if not found:
        return {}
    with extra("scripts", "graph"):
        from .expressions import Computation
    return {node: Computation(text) for node, text in found.items()}


def _targets(node: IrNode) -> list[str]:
    return [*node.dependents, *([node.loop.loop_back_to] if node.loop is not None else ())]


def _messages(ir: Ir) -> Iterable[str]:
    for node in ir.nodes.values():
        if node.type == "wait" and isinstance(name := node.config.get("message"), str):
            yield name


# -- nodes -------------------------------------------------------------------------------------------------------------


def _plan(node: IrNode, compiled: Compiled, type: NodeType) -> NodePlan:
    return NodePlan(
        id=node.id,
        ir=node,
        place=node.order,
        joins=node.wait_for_all and len(node.dependencies) > 1,
        loops=frozenset(node.loops),
        work=_work(node),
        policy=_policy(node),
        handler=_handler(node),
        queue=node.queue or type.worker_queue or f"wf.tasks.{node.type}",
        input_schema=_schema(type.input_schema),
        output_schema=_schema(type.output_schema),
        config=Raw(msgspec.json.encode(node.config)),
        compensates=node.compensator is not None,
        agent_timeout=_agent_timeout(node),
        plain=_is_plain(node, compiled),
    )


def _schema(written: dict[str, Any] | None) -> Raw:
    return ABSENT if written is None else Raw(msgspec.json.encode(written))


def _work(node: IrNode) -> Work:
    if node.type == "transform":
        if "output" in node.config or "cel" in node.config:
            return "inline"
        return "pipeline" if "pipeline" in node.config else "script"
    return _WORK.get(node.type, "call")


def _handler(node: IrNode) -> str:
    """`config.handler`, `config.action`, the service of its type's address, or its id."""
    for name in ("handler", "action"):
        if isinstance(found := node.config.get(name), str) and found:
            return found
    service = node.type_url.partition("/")[0].rpartition(".")[2]
    return service or node.id


def _policy(node: IrNode) -> Policy:
    retry = node.retry
    cap = min(MAX_CAP, retry.max_backoff_ms / 1000)
    return Policy(
        retry=KernelRetry(
            max_attempts=retry.max_attempts,
            backoff="exponential",
            first=min(cap, retry.backoff_ms / 1000),
            factor=min(100.0, retry.multiplier),
            cap=cap,
        ),
        timeout=node.limits.deadline_s if node.type != "agent" else _agent_timeout(node) + _AGENT_GRACE,
        retry_on_timeout=True,
    )


def _agent_timeout(node: IrNode) -> float:
    """The agent's timeout; a deadline in the definition counts too."""
    own = AgentConfig(model="-").timeout_sec if node.agent_config is None else node.agent_config.timeout_sec
    deadline = node.limits.deadline_s
    return own if deadline is None or deadline == NodeLimits().deadline_s else min(own, deadline)


def _is_plain(node: IrNode, compiled: Compiled) -> bool:
    capabilities, policy, around = node.capabilities, compiled.ir.policy, compiled.policy
    free = capabilities.can_emit_to is None and capabilities.max_fanout is None
    open_policy = policy.allowed_transitions is None and not policy.rules
    return node.loop is None and node.branch is None and free and open_policy and around == NO_POLICY
