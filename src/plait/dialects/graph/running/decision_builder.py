"""One decision as it grows: recorded events are folded at once, and new executions are queued."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from plait.kernel.effects import Decision, Effect
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.machine import RunInfo

from .evolve import Folding
from .graph_run import GraphRun
from .state import Execution
from .topology import NodePlan

INLINE_AT_ONCE = 1_000
"""Nodes that are settled without a task, in one decision."""

_decode = msgspec.json.Decoder().decode


class Handlers(Protocol):
    """The functions of this process."""

    def known(self, name: str) -> bool: ...

    def takes_context(self, name: str) -> bool:
        """Whether the function takes the outputs of other nodes."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    """What stays the same between decisions."""

    info: RunInfo
    handlers: Handlers


class DecisionBuilder(msgspec.Struct, gc=False):
    """A struct because it is quicker to create, and one is created for each token."""

    run: GraphRun
    context: RunContext
    now: Millis
    folding: Folding
    decision: Decision = msgspec.field(default_factory=Decision)
    ready: deque[Execution] = msgspec.field(default_factory=deque)  # pyright: ignore[reportUnknownVariableType]
    """Executions that have begun and are not yet dispatched."""
    inline: int = 0
    over: bool = False
    """Whether the run ends with this decision."""
    told: bool = False
    """Whether tasks carry all that a worker may need: after a load, a local task may now belong to a queue."""
    _input: Any = None

    def record(self, event: Event) -> None:
        self.decision.events.append(event)
        self.folding.fold(event, self.now)

    def effect(self, effect: Effect) -> None:
        self.decision.effects.append(effect)

    def plan(self, execution: Execution) -> NodePlan:
        return self.run.plan.nodes[execution.node]

    def begin(self, token_ids: list[str]) -> None:
        """Queues the executions of those tokens that need not wait at a join."""
        executions = self.run.state.executions
        for token in token_ids:
            if (execution := executions.get(token)) is not None:
                self.ready.append(execution)

    # -- values for conditions and templates -----------------------------------------------------------------------

    def input(self) -> Any:
        if self._input is None:
            self._input = _decode(self.run.state.input)
        return self._input

    def output_of(self, node: str) -> Raw | None:
        record = self.run.state.context.get(node)
        return record.output if record is not None and record.executions else None

    def records(self, nodes: frozenset[str] | set[str]) -> Mapping[str, Any]:
        """The nodes that have run, as conditions see them."""
        found: dict[str, Any] = {}
        for node in nodes:
            record = self.run.state.context.get(node)
            if record is not None and record.executions:
                metadata: dict[str, Any] = {
                    "completed_at": record.completed_at,
                    "duration_ms": record.duration_ms,
                    "attempt": record.attempt,
                    "iteration": record.iteration,
                }
                if record.decision:
                    metadata["decision"] = _decode(record.decision)
                found[node] = {"output": _decode(record.output), "metadata": metadata}
        return found


def error(code: str, message: str, cause: ErrorInfo | None = None) -> ErrorInfo:
    return ErrorInfo(f"graph.{code}", message, cause=cause)
