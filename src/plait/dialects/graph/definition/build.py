"""From a definition without flaws to its compiled form."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from plait.definitions.hashing import content_hash

from .config_refs import config_ref
from .examined import Examined
from .ir import Ir, IrBranch, IrLoop, IrNode, IrRule
from .routes import Routing
from .source import ConfigRef

Bodies = Mapping[str, tuple[str, ...]]
"""The bodies of loops, by the nodes of the loops."""


def build(examined: Examined, revision: int) -> Ir:
    source, topology = examined.draft.source, examined.topology
    order = {id: index for index, id in enumerate(topology.order)}
    bodies = {id: tuple(sorted(body, key=order.__getitem__)) for id, _, body in examined.loops()}
    nodes = {id: _node(examined, routing, bodies, order[id]) for id, routing in examined.routings.items()}
    ir = Ir(
        version=source.version,
        revision=revision,
        name=source.name,
        entry_nodes=tuple(id for id, before in topology.backward.items() if not before),
        order=tuple(topology.order),
        nodes=nodes,
        limits=source.limits,
        policy=source.policy,
        on_failure=source.on_failure,
        output=source.output,
        metadata=source.metadata,
    )
    return msgspec.structs.replace(ir, hash=content_hash(msgspec.to_builtins(ir)))


def _node(examined: Examined, routing: Routing, bodies: Bodies, order: int) -> IrNode:
    node = routing.placed.node
    forward = examined.topology.forward[node.id]
    dependencies = examined.topology.backward[node.id]
    joins = node.wait_for_all if node.wait_for_all is not None else len(dependencies) > 1
    type, version = examined.types.split(node.type)
    return IrNode(
        id=node.id,
        type=type,
        type_version=version,
        name=node.name,
        config=examined.config(routing.placed) or {},
        config_ref=config_ref(node),
        type_url=node.config_ref.type_url if isinstance(node.config_ref, ConfigRef) else "",
        dependencies=tuple(dependencies),
        dependents=tuple(forward),
        edges=tuple(route.target for route in routing.routed_edges),
        wait_for_all=joins,
        is_terminal=not forward,
        loops=_around(node.id, bodies),
        order=order,
        loop=_loop(routing, bodies),
        branch=_branch(routing),
        rejection_path=None if node.rejection_path is None else _once(node.rejection_path),
        retry=node.retry,
        limits=node.limits,
        human_config=node.human_config,
        agent_config=node.agent_config,
        compensator=node.compensator,
        capabilities=node.capabilities,
        queue=node.queue,
        metadata=node.metadata,
    )


def _around(id: str, bodies: Bodies) -> tuple[str, ...]:
    """The loops around a node, widest body first: it is the outermost."""
    holding = [loop for loop, body in bodies.items() if id in body]
    return tuple(sorted(holding, key=lambda loop: (-len(bodies[loop]), loop)))


def _loop(routing: Routing, bodies: Bodies) -> IrLoop | None:
    loop, id = routing.loop, routing.placed.node.id
    if loop is None:
        return None
    return IrLoop(
        condition=loop.condition,
        max_iterations=int(loop.max_iterations),
        loop_back_to=loop.loop_back_to or id,
        break_path=None if loop.break_path is None else _once(loop.break_path),
        timeout_path=None if loop.timeout_path is None else _once(loop.timeout_path),
        pointer=f"{routing.placed.pointer}/loop",
        body=bodies[id],
    )


def _branch(routing: Routing) -> IrBranch | None:
    branch = routing.branch
    if branch is None:
        return _lowered(routing) if routing.conditional else None
    at = f"{routing.placed.pointer}/branch/rules"
    return IrBranch(
        type=branch.type,
        rules=tuple(
            IrRule(condition=rule.condition, next_nodes=_once(rule.next_nodes), pointer=f"{at}/{index}")
            for index, rule in enumerate(branch.rules)
        ),
        default=_once(branch.default),
        available_next_nodes=_once(branch.available_next_nodes),
    )


def _lowered(routing: Routing) -> IrBranch:
    """Conditional edges as a branch: in order, the first that is true wins; unconditional ones are the default."""
    return IrBranch(
        type="conditional",
        rules=tuple(
            IrRule(condition=placed.edge.condition, next_nodes=(placed.edge.to,), pointer=placed.pointer)
            for placed in routing.conditional
        ),
        default=tuple(route.target for route in routing.edges),
    )


def _once(targets: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(targets))
