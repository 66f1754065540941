"""A compiled graph: every route is explicit, and every node knows its dependencies and whether it joins.

    forward targets   where a node may send tokens: paths of its loop, its branch, its edges
    back-edge         from a loop's node to the start of its next iteration; not a forward target
    dependencies      the nodes that have this one as forward target
    body of a loop    the nodes on forward paths from the target of its back-edge to its node, both included

It is plain data, and pinned by its hash in the run. It holds conditions as written, each with the JSON pointer
of its place in the definition; the compiled ones are beside it (`Compiled.conditions`), by the same pointer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from plait.conditions import Condition
from plait.definitions.flaws import Note

from .namespace_policy import NO_POLICY, NamespacePolicy
from .node_types import NodeType
from .source import (
    AgentConfig,
    BranchType,
    Capabilities,
    Compensator,
    HumanConfig,
    Limits,
    NodeLimits,
    OnFailure,
    Policy,
    Retry,
    Source,
)
from .templates import Template


class IrPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all objects of a compiled graph."""


class IrLoop(IrPart, frozen=True, kw_only=True):
    condition: Any
    max_iterations: int
    loop_back_to: str
    break_path: tuple[str, ...] | None = None
    """None: continue with the branch or the edges."""
    timeout_path: tuple[str, ...] | None = None
    """None: the node fails."""
    pointer: str
    """The loop's JSON pointer, which identifies its condition."""
    body: tuple[str, ...]
    """Nodes in topological order."""


class IrRule(IrPart, frozen=True, kw_only=True):
    condition: Any
    next_nodes: tuple[str, ...]
    pointer: str


class IrBranch(IrPart, frozen=True, kw_only=True):
    """A branch; conditional edges are lowered to one, too."""

    type: BranchType
    rules: tuple[IrRule, ...] = ()
    default: tuple[str, ...] = ()
    available_next_nodes: tuple[str, ...] = ()


class IrNode(IrPart, frozen=True, kw_only=True):
    id: str
    type: str
    """The type with aliases resolved, such as `human` or `decision`."""
    type_version: str = ""
    name: str = ""
    config: dict[str, Any] = {}
    config_ref: str | None = None
    """The reference that `config` was pinned from."""
    type_url: str = ""
    dependencies: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    """The node's forward targets."""
    edges: tuple[str, ...] = ()
    """Targets used when neither loop nor branch decides."""
    wait_for_all: bool = False
    is_terminal: bool = False
    loops: tuple[str, ...] = ()
    """The loops whose bodies hold the node, by the nodes of the loops; outermost first."""
    order: int = 0
    """The position in the topological order."""
    loop: IrLoop | None = None
    branch: IrBranch | None = None
    rejection_path: tuple[str, ...] | None = None
    retry: Retry = Retry()
    limits: NodeLimits = NodeLimits()
    human_config: HumanConfig | None = None
    agent_config: AgentConfig | None = None
    compensator: Compensator | None = None
    capabilities: Capabilities = Capabilities()
    queue: str | None = None
    metadata: dict[str, Any] = {}


class Ir(IrPart, frozen=True, kw_only=True):
    version: str
    revision: int
    """1 at the start of a run; incremented by every patch of the run."""
    name: str = ""
    entry_nodes: tuple[str, ...]
    order: tuple[str, ...]
    """All nodes, each after its dependencies."""
    nodes: dict[str, IrNode]
    limits: Limits = Limits()
    policy: Policy = Policy()
    on_failure: OnFailure = "fail"
    output: Any = None
    metadata: dict[str, Any] = {}
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A definition without flaws, compiled."""

    source: Source
    ir: Ir
    conditions: Mapping[str, Condition]
    """Compiled conditions by pointer: of loops, rules, conditional edges and the rules of the policy."""
    templates: Mapping[str, Template]
    """The parsed config of each node, by its id."""
    output: Template
    node_types: Mapping[str, NodeType]
    """The type of each node, by its id, with schemas and queue."""
    warnings: tuple[Note, ...] = ()
    policy: NamespacePolicy = NO_POLICY
    """The namespace's policy, which applies beside the definition's own."""
