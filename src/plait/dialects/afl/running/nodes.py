"""A step in memory: its record, its part of the program, and the nodes around it.

Records are what is stored. Nodes are rebuilt from them in order of creation when a run is loaded, so that a node's
creator always exists before it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from plait.dialects.afl.program.parts import Block, Call, Catch, Declaration, Statement, Yield
from plait.kernel.errors import ErrorInfo

from .state import StepRecord
from .states import COMPLETE, TABLE_OF, TERMINAL, TableName

SELF: Final = ""
"""The key in `pending` for the block itself, whose source or conditions wait for steps."""

_ELEMENT: Final = re.compile(r"\[(\d+)\]")

Body = Literal["declaration", "statement"]
"""Where a block is written: in a declaration, which sees nothing of its caller, or after a statement."""


NO_MEMBERS: Final[dict[str, StepNode]] = {}
NO_PENDING: Final[dict[str, set[str]]] = {}
NO_READY: Final[list[str]] = []
"""Shared by all nodes that are not blocks, which are most; never modified."""


@dataclass(slots=True, eq=False)
class StepNode:
    record: StepRecord
    ordinal: int
    container: StepNode | None = None
    block: StepNode | None = None
    declaration: Declaration | None = None
    """The declaration of the facet that it runs."""
    statement: Statement | None = None
    call: Call | None = None
    yielded: Yield | None = None
    plan: Block | None = None
    """Blocks only."""
    body: Body = "declaration"
    """Blocks only."""
    namespace: str = ""
    """The namespace of the declaration in which it is written."""
    depth: int = 0
    """The number of enclosing declarations that run."""
    place: int = 0
    """The index of a block, sub-block or mixin."""

    # Nodes inside
    blocks: Sequence[StepNode] = ()
    catches: Sequence[StepNode] = ()
    mixins: Sequence[StepNode] = ()
    subs: Sequence[StepNode] = ()
    members: dict[str, StepNode] = field(default_factory=lambda: NO_MEMBERS)
    """Blocks only: steps and yields, by statement."""

    # What is known of them: only what ended before this iteration
    open: int = 0
    """The number of blocks, mixins, steps or sub-blocks that have not ended."""
    failed: bool = False
    """Whether one of them ended as an error."""
    left: int = 0
    """Blocks only: the number of statements that are not complete."""
    left_yields: int = 0
    pending: dict[str, set[str]] = field(default_factory=lambda: NO_PENDING)
    """Blocks only: statements not yet created, with the steps that each still waits for."""
    ready: list[str] = field(default_factory=lambda: NO_READY)
    """Blocks only: statements whose last dependency has completed."""
    upstream: str = ""
    """Blocks only: a failed step that one of its statements waits for."""
    gave_up: bool = False
    """Blocks only: whether it creates nothing any more."""
    blame: ErrorInfo | None = None
    """Blocks only: why it fails, if not because of one of its steps."""
    noticed: bool = False
    """Whether it had ended before this iteration."""
    indexed: bool = False
    """Blocks only: whether its dependencies are known."""

    # Outside work
    asked: bool = False
    """Whether it has requested a script or an AFL event."""
    answered: bool = False
    """Whether the answer came with the input of this iteration."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def table(self) -> TableName:
        return TABLE_OF[self.record.object_type]

    @property
    def terminal(self) -> bool:
        return self.record.state in TERMINAL

    @property
    def complete(self) -> bool:
        return self.record.state == COMPLETE

    @property
    def done(self) -> bool:
        """Whether it was complete before this iteration, as dependants, blocks and containers may know."""
        return self.noticed and self.record.state == COMPLETE

    @property
    def waits(self) -> bool:
        return self.asked and not self.answered

    @property
    def is_block(self) -> bool:
        return self.table == "BLOCK"

    @property
    def statement_catch(self) -> Catch | None:
        return None if self.statement is None else self.statement.catch

    @property
    def all_catches(self) -> list[tuple[Catch, Body]]:
        """A declaration's own catch comes first."""
        if self.table != "STEP":
            return []
        own = None if self.declaration is None else self.declaration.catch
        found: list[tuple[Catch, Body]] = [] if own is None else [(own, "declaration")]
        if self.statement_catch is not None:
            found.append((self.statement_catch, "statement"))
        return found


def added(nodes: Sequence[StepNode], node: StepNode) -> Sequence[StepNode]:
    """Appends a node. Most have no nodes inside: the list is created for the first."""
    if isinstance(nodes, list):
        nodes.append(node)
        return nodes
    return [*nodes, node]


def step_id(run_id: str, container: str, block: str, statement: str) -> str:
    """Equal for the same place in the same run: a step can't be created twice."""
    return hashlib.blake2b(f"{run_id}\0{container}\0{block}\0{statement}".encode(), digest_size=12).hexdigest()


def event_id(step: str, generation: int) -> str:
    return f"{step}:{generation}" if generation else step


def _unnamed(record: StepRecord) -> str:
    short = record.facet_name.rpartition(".")[2]
    return f"yield {short}" if record.object_type == "YieldAssignment" else record.facet_name


def path_of(node: StepNode) -> str:
    """The names of the enclosing steps, and its own. Blocks and cases after the first are numbered: `a#2` is the step
    `a` of the second; elements are in brackets: `[0]/a`."""
    names: list[str] = []
    at = node
    while at.container is not None:
        if at.record.element is not None:
            names.append(f"[{at.record.element.index}]")
        elif not at.is_block:
            names.append(at.record.statement_name or _unnamed(at.record))
        elif at.place and at is not node and names:
            names[-1] += f"#{at.place + 1}"
        at = at.block if at.block is not None else at.container
    return "/".join(reversed(names)) or node.record.facet_name


def label_of(node: StepNode) -> str:
    """The name shown; blocks have none, and are shown by kind and place."""
    record = node.record
    if not node.is_block:
        return record.statement_name or f"yield {record.facet_name.rpartition('.')[2]}"
    if record.element is not None:
        return f"foreach[{record.element.index}]"
    if node.block is not None:
        return f"case {node.place + 1}"
    return "catch" if record.object_type == "AndCatch" else f"andThen {node.place + 1}"


def shown_path(node: StepNode) -> str:
    """The path with blocks after the step that has them."""
    path = path_of(node)
    if not node.is_block or node.record.element is not None:
        return path
    return f"{path}/{label_of(node)}" if path else label_of(node)


def path_words(node: StepNode) -> str:
    """The path in words: `[0]/a` is `item 1 / a`."""
    return " / ".join(_ELEMENT.sub(_item, name) for name in shown_path(node).split("/"))


def _item(found: re.Match[str]) -> str:
    return f"item {int(found[1]) + 1}"
