"""Where tokens go on from a completed node: its loop decides first, then its branch, then its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event

from .conditions import Judge
from .decision_builder import DecisionBuilder, error
from .events import AgentDecided, AgentRouteDenied, BranchTaken, ConditionError, LoopContinued, LoopExited, Via
from .state import Execution, Judgement
from .topology import NodePlan


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a handler or an agent chose as targets."""

    next_nodes: tuple[str, ...] | None = None
    reasoning: str = ""


class Route(msgspec.Struct, gc=False):
    targets: tuple[str, ...]
    via: Via
    events: list[Event] = []
    loops: dict[str, int] | None = None
    """Iterations of the new tokens, if they differ from the sender's."""
    failure: ErrorInfo | None = None
    """Set if the attempt fails; the events before say more."""
    retryable: bool = False


def route(
    builder: DecisionBuilder, plan: NodePlan, execution: Execution, output: Raw, chosen: Chosen | None = None
) -> Route:
    """Returns the route; raises `OutsideVerdict` where a task must judge first."""
    return _Routing(builder, plan, execution, output).route(chosen or Chosen())


class _Routing:
    def __init__(self, builder: DecisionBuilder, plan: NodePlan, execution: Execution, output: Raw) -> None:
        self._plan = plan
        self._execution = execution
        self._judging = Judge(builder, execution, output)
        self._events: list[Event] = []

    def route(self, chosen: Chosen) -> Route:
        node = self._plan.ir
        if node.loop is not None and (found := self._loop()) is not None:
            return found
        if node.branch is None:
            if chosen.next_nodes is not None:
                return self._denied(f"`{node.id}` has no `agent_driven` branch, so it can't choose where to go on")
            return Route(node.edges, "edges", self._events)
        return self._chosen(chosen) if node.branch.type == "agent_driven" else self._conditional()

    # -- loop ------------------------------------------------------------------------------------------------------

    def _loop(self) -> Route | None:
        """The loop's route; None: continue with the branch or the edges."""
        node, execution = self._plan.ir, self._execution
        loop, iteration = node.loop, execution.iteration()
        assert loop is not None
        verdict = self._judge(loop.pointer, "loop")
        if verdict.code and not verdict.soft:
            what = f"the loop condition of `{node.id}` can't be judged: {verdict.message}"
            return self._failed(error("condition_error", what))
        if not verdict.value:
            return self._leave("break", loop.break_path, iteration)
        if iteration < loop.max_iterations:
            self._events.append(LoopContinued(node.id, iteration + 1, loop.loop_back_to))
            loops = execution.loops | {node.id: iteration + 1}
            return Route((loop.loop_back_to,), "loop", self._events, loops)
        if loop.timeout_path is None:
            what = f"the loop of `{node.id}` has not ended after {iteration} iterations, and has no timeout_path"
            return self._failed(error("loop_exhausted", what))
        return self._leave("timeout", loop.timeout_path, iteration)

    def _leave(self, exit: Literal["break", "timeout"], path: tuple[str, ...] | None, iteration: int) -> Route | None:
        node = self._plan.id
        if path is None:
            self._events.append(LoopExited(node, iteration, "next"))
            return None
        self._events.append(LoopExited(node, iteration, exit, list(path)))
        return Route(path, exit, self._events)

    # -- branch ----------------------------------------------------------------------------------------------------

    def _conditional(self) -> Route:
        branch = self._plan.ir.branch
        assert branch is not None
        for number, rule in enumerate(branch.rules):
            if self._judge(rule.pointer, f"rule {number}").value:
                return self._taken(number, rule.next_nodes)
        return self._taken(None, branch.default)

    def _chosen(self, chosen: Chosen) -> Route:
        branch = self._plan.ir.branch
        assert branch is not None
        wanted = tuple(dict.fromkeys(chosen.next_nodes or ()))
        agent = self._plan.work == "agent"
        if not wanted:
            if agent:
                self._events.append(AgentDecided(self._plan.id, list(branch.default), chosen.reasoning))
            return self._taken(None, branch.default)
        if foreign := [target for target in wanted if target not in branch.available_next_nodes]:
            if agent:
                denied = AgentRouteDenied(self._plan.id, list(wanted), foreign, list(branch.available_next_nodes))
                self._events.append(denied)
            allowed = ", ".join(branch.available_next_nodes)
            return self._denied(f"`{self._plan.id}` may not go on to `{foreign[0]}`; allowed: {allowed}")
        if agent:
            self._events.append(AgentDecided(self._plan.id, list(wanted), chosen.reasoning))
        self._events.append(BranchTaken(self._plan.id, None, list(wanted), chosen.reasoning))
        return Route(wanted, "handler", self._events)

    def _taken(self, rule: int | None, targets: tuple[str, ...]) -> Route:
        self._events.append(BranchTaken(self._plan.id, rule, list(targets)))
        return Route(targets, "branch", self._events)

    def _denied(self, message: str) -> Route:
        found = self._failed(error("route_denied", message))
        found.retryable = True
        return found

    def _failed(self, failure: ErrorInfo) -> Route:
        return Route((), "edges", self._events, failure=failure)

    # -- conditions ------------------------------------------------------------------------------------------------

    def _judge(self, pointer: str, where: str) -> Judgement:
        found = self._judging.ask(pointer)
        if found.code:
            self._events.append(ConditionError(self._plan.id, where, found.code, found.message, found.soft))
        return found
