"""One iteration as it grows: changes of steps are kept until its end, when they become events.

A step that moves is changed at once, in memory. Its moves are one event, made at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel.effects import Decision, Effect
from plait.kernel.errors import ErrorInfo
from plait.kernel.events import Event
from plait.kernel.ids import Millis
from plait.kernel.limits import Limits
from plait.kernel.machine import RunInfo
from plait.kernel.values import ABSENT

from . import events as e
from .afl_run import AflRun
from .failures import LimitReached, at_step
from .limits import MAX_CALL_DEPTH, MAX_STEPS
from .nodes import StepNode
from .state import Element, StepRecord
from .states import CATCH_BEGIN, ERROR, ObjectType, check_move

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class RunContext:
    """What stays the same between decisions."""

    info: RunInfo
    limits: Limits


@dataclass(slots=True)
class Moved:
    source: str
    params: set[str] = field(default_factory=set[str])
    returns: set[str] = field(default_factory=set[str])
    dependencies: list[str] = field(default_factory=list[str])
    after: list[Event] = field(default_factory=list[Event])
    """Events of its failure or of a catch."""
    created: bool = False


@dataclass(slots=True)
class Iteration:
    run: AflRun
    context: RunContext
    now: Millis
    decision: Decision = field(default_factory=Decision)
    moved: dict[str, Moved] = field(default_factory=dict[str, Moved])
    born: list[StepNode] = field(default_factory=list[StepNode])
    """Steps created in this iteration that have not been driven."""
    created: int = 0
    published: int = 0
    over: bool = False
    """Whether the run has ended, or ends with this decision."""

    # -- recorded immediately ------------------------------------------------------------------------------------

    def record(self, event: Event) -> None:
        """Records an event that its caller has folded already."""
        self.decision.events.append(event)
        self.run.state.seq += 1

    def effect(self, effect: Effect) -> None:
        self.decision.effects.append(effect)

    def warn(self, node: StepNode, text: str) -> None:
        self.run.state.warnings.append(text)
        self.record(e.Warned(node.id, text))

    # -- steps ---------------------------------------------------------------------------------------------------

    def create(
        self,
        object_type: ObjectType,
        *,
        container: StepNode | None,
        block: StepNode | None = None,
        statement_id: str = "",
        name: str = "",
        facet: str = "",
        element: Element | None = None,
        dependencies: list[str] | None = None,
    ) -> StepNode:
        run = self.run
        if len(run.nodes) >= MAX_STEPS:
            raise LimitReached("steps", len(run.nodes) + 1, MAX_STEPS, "steps per run")
        above = "" if container is None else container.id
        around = "" if block is None else block.id
        id = run.id_of(above, around, statement_id)
        record = StepRecord(
            id=id,
            object_type=object_type,
            workflow_id=run.run_id,
            statement_id=statement_id,
            statement_name=name,
            container_type=""
            if container is None
            else "Facet"
            if object_type == "Facet"
            else container.record.object_type,
            container_id=above,
            block_id=around,
            root_id=id if container is None else container.record.root_id,
            facet_name=facet,
            element=element,
            dependencies=dependencies or [],
            created_at=self.now,
            created_in=run.state.iteration + 1,
            workflow_version=run.state.start.workflow_version,
        )
        run.state.steps[id] = record
        node = run.attach(record)
        if node.depth > MAX_CALL_DEPTH:
            raise LimitReached("calls inside each other", node.depth, MAX_CALL_DEPTH, "call depth")
        around_node = container if block is None else block
        if around_node is not None:
            around_node.open += 1
        self.moved[id] = Moved(record.state, created=True)
        # The record keeps changing; the event must not
        copy = msgspec.structs.replace(
            record, params={}, returns={}, cases=[], sys=[], dependencies=[*record.dependencies]
        )
        self.record(e.StepCreated(copy))
        self.born.append(node)
        self.created += 1
        return node

    def move(self, node: StepNode, to: str) -> None:
        record = node.record
        check_move(node.table, record.state, to)
        self._moved(node)
        record.state = to
        if node.terminal:
            record.ended_at, record.ended_in = self.now, self.run.state.iteration + 1
            self.run.settle(node)

    def set_params(self, node: StepNode, found: dict[str, Any]) -> None:
        node.record.params.update(found)
        self._moved(node).params.update(found)

    def set_returns(self, node: StepNode, found: dict[str, Any]) -> None:
        node.record.returns.update(found)
        self._moved(node).returns.update(found)

    def waited_for(self, node: StepNode, found: list[str]) -> None:
        """Notes steps that a block needed, now that they are complete."""
        if found:
            node.record.dependencies.extend(found)
            self._moved(node).dependencies.extend(found)

    def fail(self, node: StepNode, found: ErrorInfo, *, catchable: bool = True) -> None:
        """Fails a step: a catch takes over, or the step ends as an error."""
        record, why = node.record, at_step(node, found)
        moved = self._moved(node)
        state = record.state
        record.failed_in = state
        if catchable and record.caught < len(node.all_catches):
            record.caught += 1
            moved.after.append(e.StepCaught(node.id, state, why))
            record.returns.update(error=why.message, error_type=why.type)
            moved.returns.update(("error", "error_type"))
            self.move(node, CATCH_BEGIN)
            return
        record.error = why
        moved.after.append(e.StepFailed(node.id, state, why))
        self.move(node, ERROR)

    def _moved(self, node: StepNode) -> Moved:
        found = self.moved.get(node.id)
        if found is None:
            found = self.moved[node.id] = Moved(node.record.state)
        return found

    # -- its end -------------------------------------------------------------------------------------------------

    def flush(self) -> int:
        """Turns the changes of steps into events; returns how many steps moved."""
        count = 0
        for id, moved in self.moved.items():
            node = self.run.nodes[id]
            for event in moved.after:
                if isinstance(event, e.StepCaught):
                    self.record(event)
            reached = node.record.failed_in if node.record.state == ERROR else node.record.state
            changed = bool(moved.params or moved.returns or moved.dependencies)
            if reached != moved.source or changed:
                self.record(self._event(node, moved, reached))
            for event in moved.after:
                if isinstance(event, e.StepFailed):
                    self.record(event)
            count += not moved.created or reached != moved.source or bool(moved.after)
        self.moved.clear()
        return count

    def _event(self, node: StepNode, moved: Moved, reached: str) -> e.StepMoved:
        record = node.record
        return e.StepMoved(
            node.id,
            moved.source,
            reached,
            _part(record.params, moved.params),
            _part(record.returns, moved.returns),
            moved.dependencies,
        )


def _part(values: dict[str, Any], names: set[str]) -> Raw:
    """Values in the order they have in memory, so that folding the log yields the same bytes."""
    return Raw(_encode({name: value for name, value in values.items() if name in names})) if names else ABSENT
