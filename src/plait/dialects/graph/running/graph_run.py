"""A run of a graph in memory: its state, and derived data that is kept up to date beside it.

positions   where tokens are that may still reach a join
joins       what waits at joins, by round
active      the number of executions that are not dead letters
held        the number of executions that a throttle holds back
listeners   the executions that wait for each message, oldest first
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import ceil

import msgspec
from msgspec import Raw

from plait.kernel.ids import Millis

from .positions import JoinKey, Positions
from .state import Execution, GraphState, OpenApproval, Token
from .topology import NodePlan, Topology

_encode = msgspec.json.Encoder().encode


class JoinWait:
    """The tokens that have reached a join in one round, and the dependencies still missing."""

    __slots__ = ("arrived", "dead", "missing", "parked")

    def __init__(self, plan: NodePlan) -> None:
        self.arrived: dict[str, deque[str]] = {}
        """Dependency -> its tokens, oldest first."""
        self.missing = dict.fromkeys(plan.ir.dependencies)
        self.dead: dict[str, None] = {}
        """Missing dependencies that no token can come from any more."""
        self.parked = 0

    def look_again(self) -> None:
        """Revives dead dependencies, because a loop has started another iteration or the graph was patched."""
        self.missing.update(self.dead)
        self.dead.clear()


class GraphRun:
    def __init__(self, state: GraphState, plan: Topology) -> None:
        self.state = state
        self.plan = plan
        self.rebuild(plan)

    def rebuild(self, plan: Topology) -> None:
        """Computes all derived data from the state."""
        self.plan = plan
        self.positions = Positions()
        self.joins: dict[JoinKey, JoinWait] = {}
        self.dirty: set[JoinKey] = set()
        self.listeners: dict[str, dict[str, None]] = {}
        for token in self.state.tokens.values():
            if self.plan.joins:
                self.positions.add(self._place(token.node), token.loops)
            if token.parked:
                self._park(token, self.plan.nodes[token.node])
        for approval in self.state.approvals.values():
            self._occupy(approval)
        self.held = sum(execution.held for execution in self.state.executions.values())
        self.active = sum(not execution.dead for execution in self.state.executions.values())
        for execution in self.state.executions.values():
            if execution.message:
                self.listen(execution)

    # -- tokens ----------------------------------------------------------------------------------------------------

    def arrive(self, token: Token) -> None:
        """Adds a new token, which waits at a join or starts its node."""
        state, plan = self.state, self.plan.nodes[token.node]
        state.tokens[token.id] = token
        state.arrivals[token.node] = state.seq
        if self.plan.joins:
            self.positions.add(plan.place, token.loops)
            if plan.joins and not token.back:
                token.parked = True
                self._park(token, plan)
                return
        self.begin(Execution(token.id, token.node, [token.id], token.payload, token.hop, token.at, token.loops))

    def begin(self, execution: Execution) -> None:
        self.state.executions[execution.id] = execution
        self.state.scanned += len(bytes(execution.payload))
        if self.plan.pace is not None:
            due, self.state.free_from = self.plan.pace.slot(execution.started_at, self.state.free_from)
            execution.due = Millis(ceil(due))
        self.active += 1

    def consume(self, execution: Execution) -> None:
        """Removes the tokens of a settled execution."""
        state = self.state
        del state.executions[execution.id]
        if not execution.dead:
            self.active -= 1
        for token_id in execution.tokens:
            token = state.tokens.pop(token_id)
            if self.plan.joins:
                self.positions.remove(self._place(token.node), token.loops)
        if execution.message:
            self._unlisten(execution)

    def _place(self, node: str) -> int:
        return self.plan.nodes[node].place

    # -- joins -----------------------------------------------------------------------------------------------------

    def _park(self, token: Token, plan: NodePlan) -> None:
        key = token.node, self.plan.round_of(plan, token.loops)
        wait = self.joins.get(key)
        if wait is None:
            wait = self.joins[key] = JoinWait(plan)
        queue = wait.arrived.get(token.origin)
        if queue is None:
            queue = wait.arrived[token.origin] = deque()
        queue.append(token.id)
        wait.missing.pop(token.origin, None)
        wait.dead.pop(token.origin, None)
        wait.parked += 1
        self.dirty.add(key)

    def fire(self, key: JoinKey, tokens: list[str], at: Millis) -> Execution:
        """Takes one token of each dependency that has one; later ones keep waiting."""
        wait, found = self.joins[key], [self.state.tokens[token] for token in tokens]
        for token in found:
            token.parked = False
            queue = wait.arrived[token.origin]
            queue.remove(token.id)
            if not queue:
                del wait.arrived[token.origin]
                wait.missing[token.origin] = None
        wait.parked -= len(found)
        wait.look_again()
        if not wait.parked:
            del self.joins[key]
        else:
            self.dirty.add(key)
        payload = Raw(_encode({token.origin: token.payload for token in found}))
        hop = max(token.hop for token in found)
        execution = Execution(tokens[0], key[0], tokens, payload, hop, at, found[0].loops)
        self.begin(execution)
        return execution

    def look_at_joins_again(self) -> None:
        """Checks joins with dead dependencies again after a new iteration: tokens may now reach their rounds."""
        for key, wait in self.joins.items():
            if wait.dead:
                wait.look_again()
                self.dirty.add(key)

    def take_dirty(self) -> list[JoinKey]:
        """The joins that may fire now, in topological order, lowest round first."""
        found = self.dirty
        if self.positions.left:
            found = found | self.positions.left
            self.positions.left = set()
        self.dirty = set()
        return sorted((key for key in found if key in self.joins), key=self.join_order)

    def join_order(self, key: JoinKey) -> tuple[int, tuple[int, ...]]:
        return self._place(key[0]), key[1]

    # -- approvals and waits ---------------------------------------------------------------------------------------

    def ask(self, approval: OpenApproval) -> None:
        self.state.approvals[approval.id] = approval
        self._occupy(approval)

    def answer(self, approval: OpenApproval) -> None:
        del self.state.approvals[approval.id]
        if self.plan.joins and not approval.before:
            self.positions.remove(self._place(approval.node), approval.loops)

    def _occupy(self, approval: OpenApproval) -> None:
        if self.plan.joins and not approval.before:  # otherwise its token is there
            self.positions.add(self._place(approval.node), approval.loops)

    def listen(self, execution: Execution) -> None:
        self.listeners.setdefault(execution.message, {})[execution.id] = None

    def _unlisten(self, execution: Execution) -> None:
        self.listeners.get(execution.message, {}).pop(execution.id, None)

    def by_task(self, token: str) -> Execution | None:
        """The execution of a task, a timer or a child; None if it is settled or was restarted."""
        execution = self.state.executions.get(token.partition("~")[0])
        return execution if execution is not None and execution.task == token else None

    def dead(self) -> Iterable[Execution]:
        return (execution for execution in self.state.executions.values() if execution.dead)
