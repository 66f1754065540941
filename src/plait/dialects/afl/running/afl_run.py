"""A run in memory: its state, its nodes, and the steps to be driven next.

An iteration visits only steps that something has happened to, so that its cost does not grow with the run: ends of
one iteration are delivered to their waiters at the start of the next.
"""

from __future__ import annotations

from plait.dialects.afl.program.parts import Block, Declaration
from plait.dialects.afl.program.program import Program

from .nodes import Body, StepNode, added, event_id, step_id
from .readiness import can_move
from .state import AflState, EventRecord, StepRecord
from .states import (
    BLOCKS_CONTINUE,
    CATCH_CONTINUE,
    EVENT_TRANSMIT,
    EXECUTION_CONTINUE,
    MIXIN_BLOCKS_CONTINUE,
    SCRIPTS_BEGIN,
)


class AflRun:
    def __init__(self, state: AflState, program: Program, run_id: str) -> None:
        self.state = state
        self.program = program
        self.run_id = run_id
        """The run from which step ids derive: for a fork, the original run."""
        self.nodes: dict[str, StepNode] = {}
        self.attention: dict[str, StepNode] = {}
        """Steps to drive in the next iteration."""
        self.settled: list[StepNode] = []
        """Steps that ended in this iteration."""
        self.waiters: dict[str, list[tuple[StepNode, str]]] = {}
        """By step id: blocks with a statement that waits for it."""
        self.hopeless: set[str] = set()
        """Steps that will never be created."""
        self.waiting = 0
        """The number of steps that wait for outside work."""
        self.folded = False
        """Whether records changed without the nodes, which are then rebuilt before the next decision."""
        self.folded = bool(state.steps)

    @property
    def root(self) -> StepNode | None:
        return next(iter(self.nodes.values()), None)

    @property
    def workflow(self) -> Declaration:
        found = self.program.find(self.state.start.workflow)
        if found is None:
            raise KeyError(self.state.start.workflow)
        return found

    # -- nodes ---------------------------------------------------------------------------------------------------

    def attach(self, record: StepRecord) -> StepNode:
        """Creates the node of a record whose surroundings have theirs already."""
        container = self.nodes.get(record.container_id)
        block = self.nodes.get(record.block_id)
        node = StepNode(record, len(self.nodes), container, block)
        if container is None:
            node.declaration = self.workflow
            node.namespace = node.declaration.namespace
        elif node.is_block:
            self._attach_block(node, container, block)
        elif record.object_type == "Facet":
            self._attach_mixin(node, container)
        else:
            self._attach_member(node, container, block)
        self.nodes[record.id] = node
        return node

    def _attach_block(self, node: StepNode, container: StepNode, block: StepNode | None) -> None:
        kind, _, number = node.record.statement_id.rpartition("-")
        node.place = int(number)
        node.members, node.pending, node.ready = {}, {}, []
        node.depth, node.namespace = container.depth, container.namespace
        if block is not None:
            assert block.plan is not None
            node.plan = block.plan.cases[node.place].block if block.plan.kind == "when" else elements(block.plan)
            node.body, node.namespace = block.body, block.namespace
            block.subs = added(block.subs, node)
        elif kind == "block":
            bodies, node.body = bodies_of(container)
            node.plan = bodies[node.place]
            container.blocks = added(container.blocks, node)
        else:
            catch, node.body = container.all_catches[node.place]
            node.plan = catch.block
            container.catches = added(container.catches, node)
        if block is None and node.body == "declaration" and container.declaration is not None:
            node.namespace = container.declaration.namespace

    def _attach_mixin(self, node: StepNode, container: StepNode) -> None:
        node.place = int(node.record.statement_id.rpartition("-")[2])
        node.declaration = self.program.find(node.record.facet_name)
        node.namespace, node.depth = container.namespace, container.depth + 1
        container.mixins = added(container.mixins, node)

    def _attach_member(self, node: StepNode, container: StepNode, block: StepNode | None) -> None:
        assert block is not None
        assert block.plan is not None
        node.namespace = block.namespace
        statement = node.record.statement_id
        if node.record.object_type == "YieldAssignment":
            node.yielded = next(each for each in block.plan.yields if each.id == statement)
            node.call = node.yielded.call
        else:
            node.statement = (block.plan.named or {})[node.record.statement_name]
            node.call = node.statement.call
            node.declaration = self.program.find(node.call.target)
            runs = node.declaration is not None and bool(node.declaration.bodies)
            node.depth = container.depth + runs
        block.members[statement] = node

    def id_of(self, container: str, block: str, statement: str) -> str:
        return step_id(self.run_id, container, block, statement)

    def node(self, id: str) -> StepNode | None:
        return self.nodes.get(id)

    def event_of(self, node: StepNode) -> EventRecord | None:
        return self.state.events.get(event_id(node.id, node.record.generation))

    # -- which steps to visit ------------------------------------------------------------------------------------

    def attend(self, node: StepNode | None) -> None:
        if node is not None and not node.terminal:
            self.attention[node.id] = node

    def settle(self, node: StepNode) -> None:
        """Notes that a step has ended; its waiters are told for the next iteration."""
        self.settled.append(node)

    def deliver(self) -> None:
        """Tells waiters about the steps that ended in this iteration, for the next one."""
        settled, self.settled = self.settled, []
        for node in settled:
            node.noticed = True
            self._tell_around(node)
            for block, key in self.waiters.pop(node.id, ()):
                self._tell_waiting(block, key, node.id, complete=node.complete)
        self.attention = {id: node for id, node in self.attention.items() if can_move(node)}

    def _tell_around(self, node: StepNode) -> None:
        around = node.container if node.block is None else node.block
        if around is None:
            return
        around.open -= 1
        if not node.complete:
            around.failed = True
            self.abandon(around)
        elif node.record.object_type == "YieldAssignment":
            around.left_yields -= 1
        elif node.block is not None:
            around.left -= 1
        self.attend(around)

    def _tell_waiting(self, block: StepNode, key: str, id: str, *, complete: bool) -> None:
        missing = block.pending.get(key)
        if missing is None:
            return
        if not complete:
            block.upstream = block.upstream or id
            self.abandon(block)
        else:
            missing.discard(id)
            if not missing:
                block.ready.append(key)
        self.attend(block)

    def abandon(self, block: StepNode) -> None:
        """Stops a block from creating steps: those it has not created never will be."""
        if block.gave_up or block.plan is None:
            return
        block.gave_up = True
        block.pending.clear()
        block.ready.clear()
        for key in block.plan.entries if block.plan.kind == "steps" else ():
            if key not in block.members:
                self.give_up(self.id_of(block.record.container_id, block.id, key))

    def give_up(self, id: str) -> None:
        """Tells the waiters of a step that it will never be created."""
        self.hopeless.add(id)
        for block, key in self.waiters.pop(id, ()):
            self._tell_waiting(block, key, id, complete=False)

    # -- after a load --------------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Rebuilds nodes and their counters from the records alone: as after the last commit."""
        self.nodes, self.attention, self.settled, self.waiters, self.waiting = {}, {}, [], {}, 0
        self.hopeless = set()
        for record in self.state.steps.values():
            self.run_id = record.workflow_id
            break
        for record in self.state.steps.values():
            self.attach(record)
        for node in self.nodes.values():
            node.noticed = node.terminal
            node.asked = self._waits(node)
            self.waiting += node.asked
            self._count(node)
            if not node.terminal and not node.asked:
                self.attention[node.id] = node
            if node.failed and not node.terminal:
                self.abandon(node)
        self.folded = False

    def _waits(self, node: StepNode) -> bool:
        """Whether the node's state means that it has requested outside work."""
        state = node.record.state
        if node.plan is not None:
            return node.plan.kind == "script" and state == EXECUTION_CONTINUE
        return state in (EVENT_TRANSMIT, SCRIPTS_BEGIN) and node.table == "STEP"

    def _count(self, node: StepNode) -> None:
        """Derives the counters of a node from the nodes inside it."""
        state = node.record.state
        if state == MIXIN_BLOCKS_CONTINUE:
            inside = node.mixins
        elif state == BLOCKS_CONTINUE:
            inside = node.blocks
        elif state == CATCH_CONTINUE:
            inside = node.catches[-1:]
        elif state == EXECUTION_CONTINUE:
            inside = [*node.members.values(), *node.subs]
        else:
            return
        node.open = sum(not each.terminal for each in inside)
        node.failed = any(each.terminal and not each.complete for each in inside)
        if node.plan is not None:
            yields = [each for each in node.members.values() if each.yielded is not None]
            node.left_yields = len(node.plan.yields) - sum(each.complete for each in yields)


def elements(plan: Block) -> Block:
    """The block that each element of a foreach runs."""
    return Block("steps", plan.steps, plan.sys, plan.yields, plan.named, plan.entries)


def bodies_of(node: StepNode) -> tuple[tuple[Block, ...], Body]:
    """The statement's own bodies, or else those of the declaration it calls."""
    if node.statement is not None and node.statement.bodies:
        return node.statement.bodies, "statement"
    return (() if node.declaration is None else node.declaration.bodies), "declaration"
