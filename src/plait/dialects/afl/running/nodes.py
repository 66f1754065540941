"""A step in memory: its record, what it is in the program, and who is around it.

Records are what lasts. Nodes are made from them, in order of creation, when a run is read; so whoever made a node
was there before it.
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
"""Among what a block waits for: the block itself, where its source or its conditions wait for steps."""

_ELEMENT: Final = re.compile(r"\[(\d+)\]")

Body = Literal["declaration", "statement"]
"""Where a block is written: in a declaration, which sees nothing of its caller, or after a statement."""


NO_MEMBERS: Final[dict[str, StepNode]] = {}
NO_PENDING: Final[dict[str, set[str]]] = {}
NO_READY: Final[list[str]] = []
"""Of whatever is no block, which are most: shared, and never written to."""


@dataclass(slots=True, eq=False)
class StepNode:
    record: StepRecord
    ordinal: int
    container: StepNode | None = None
    block: StepNode | None = None
    declaration: Declaration | None = None
    """Of the facet that it runs."""
    statement: Statement | None = None
    call: Call | None = None
    yielded: Yield | None = None
    plan: Block | None = None
    """Of a block."""
    body: Body = "declaration"
    """Of a block."""
    namespace: str = ""
    """Of the declaration that it is written in."""
    depth: int = 0
    """Declarations around it that run."""
    place: int = 0
    """Of a block, sub-block or mixin: which."""

    # Who is inside
    blocks: Sequence[StepNode] = ()
    catches: Sequence[StepNode] = ()
    mixins: Sequence[StepNode] = ()
    subs: Sequence[StepNode] = ()
    members: dict[str, StepNode] = field(default_factory=lambda: NO_MEMBERS)
    """Of a block: its steps and yields, by statement."""

    # What is known of them: all that ended before this iteration
    open: int = 0
    """Blocks, mixins, steps or sub-blocks that have not ended."""
    failed: bool = False
    """One of them ended as an error."""
    left: int = 0
    """Of a block: statements that are not complete."""
    left_yields: int = 0
    pending: dict[str, set[str]] = field(default_factory=lambda: NO_PENDING)
    """Of a block: statements that are not created yet, with the steps that each still waits for."""
    ready: list[str] = field(default_factory=lambda: NO_READY)
    """Of a block: statements whose last dependency has completed."""
    upstream: str = ""
    """Of a block: a failed step that one of its statements waits for."""
    gave_up: bool = False
    """Of a block: it creates nothing any more."""
    blame: ErrorInfo | None = None
    """Of a block: why it fails, where that is none of its steps."""
    noticed: bool = False
    """It had ended before this iteration."""
    indexed: bool = False
    """Of a block: what it waits for is known."""

    # Outside work
    asked: bool = False
    """It waits for a script or an AFL event."""
    answered: bool = False
    """The answer came with the input of this iteration."""

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
        """Complete before this iteration: what dependants, blocks and containers may know."""
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
        """A declaration's own goes first."""
        if self.table != "STEP":
            return []
        own = None if self.declaration is None else self.declaration.catch
        found: list[tuple[Catch, Body]] = [] if own is None else [(own, "declaration")]
        if self.statement_catch is not None:
            found.append((self.statement_catch, "statement"))
        return found


def added(nodes: Sequence[StepNode], node: StepNode) -> Sequence[StepNode]:
    """With one more. Most nodes have nobody inside: a list is made for the first."""
    if isinstance(nodes, list):
        nodes.append(node)
        return nodes
    return [*nodes, node]


def step_id(run_id: str, container: str, block: str, statement: str) -> str:
    """The same for the same place of the same run: creating a step twice is impossible."""
    return hashlib.blake2b(f"{run_id}\0{container}\0{block}\0{statement}".encode(), digest_size=12).hexdigest()


def event_id(step: str, generation: int) -> str:
    return f"{step}:{generation}" if generation else step


def _unnamed(record: StepRecord) -> str:
    short = record.facet_name.rpartition(".")[2]
    return f"yield {short}" if record.object_type == "YieldAssignment" else record.facet_name


def path_of(node: StepNode) -> str:
    """The names of the steps around it, and its own. Blocks and cases after the first are numbered: `a#2` is the step
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
    """Blocks have no name: they are called by their kind and place."""
    record = node.record
    if not node.is_block:
        return record.statement_name or f"yield {record.facet_name.rpartition('.')[2]}"
    if record.element is not None:
        return f"foreach[{record.element.index}]"
    if node.block is not None:
        return f"case {node.place + 1}"
    return "catch" if record.object_type == "AndCatch" else f"andThen {node.place + 1}"


def shown_path(node: StepNode) -> str:
    """Blocks stand behind the step that has them."""
    path = path_of(node)
    if not node.is_block or node.record.element is not None:
        return path
    return f"{path}/{label_of(node)}" if path else label_of(node)


def path_words(node: StepNode) -> str:
    """The path as people say it: `[0]/a` is `item 1 / a`."""
    return " / ".join(_ELEMENT.sub(_item, name) for name in shown_path(node).split("/"))


def _item(found: re.Match[str]) -> str:
    return f"item {int(found[1]) + 1}"
