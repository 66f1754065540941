"""Plays a run of a graph on the kernel's `advance`, without an engine: what follows from a decision happens here.

    player = Player(definition, work=lambda node, loops: {...})
    player.start({"n": 1})
    player.finish("A")                  # the task of node A succeeds
    assert player.types == ["run.started", "node.consumed", ...]

Every input may be given twice, and the run folded anew from its log at any time: both must change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from plait.dialects.graph.bundle import GraphBundle
from plait.dialects.graph.running.events import GraphEvent
from plait.dialects.graph.running.machine import GraphMachine
from plait.kernel import events, values
from plait.kernel.advance import advance
from plait.kernel.approval import Approval
from plait.kernel.effects import StartChild
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Epoch, Ids, Millis, RunId, TaskToken
from plait.kernel.inputs import AnyInput, Continue, Decided, Loaded, Start, TaskResult, TimerFired
from plait.kernel.limits import Limits
from plait.kernel.machine import RunInfo
from plait.kernel.run import Run
from plait.kernel.store import DeadLetter
from plait.kernel.tasks import OpenTask
from plait.kernel.unit_of_work import UnitOfWork

RUN = RunId("run")
Work = Callable[[str, Mapping[str, int]], Any]

_EVENTS: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[GraphEvent | events.KernelEvent])


class Player:
    def __init__(
        self, definition: Mapping[str, Any], work: Work | None = None, *, bundle: GraphBundle | None = None
    ) -> None:
        self.bundle = bundle or everything_here()
        self._definition = definition
        self._work = work or (lambda node, loops: {"node": node})
        self._info = RunInfo(RUN, "default", "graph", "graph")
        self._log: list[tuple[Millis, bytes]] = []
        self._count = 0
        self.now = Millis(1_000)
        self.tasks: dict[TaskToken, OpenTask] = {}
        self.timers: dict[TaskToken, Millis] = {}
        self.approvals: dict[TaskToken, Approval] = {}
        self.letters: dict[str, DeadLetter] = {}
        self.children: dict[TaskToken, StartChild] = {}
        self.replies: list[Any] = []
        self.twice = False
        """Every input is given twice."""
        self.run = self._fresh()

    # -- inputs ----------------------------------------------------------------------------------------------------

    def start(self, input: Any = None) -> None:
        topology = self.bundle.topologies.made(dict(self._definition))
        start = self.bundle.start_of(topology)
        self.give(Start("graph", "graph", values.encode(input), "1.0", data=start))

    def give(self, input: AnyInput, key: str | None = None) -> None:
        for _ in range(2 if self.twice else 1):
            self.run.mailbox.append((input, key))
            self._take(advance(self.run, self.now))

    def finish(self, node: str, output: Any = ..., *, error: str = "", retryable: bool = False) -> None:
        """The task of a node ends; of several, the oldest."""
        opened = self.open(node)
        self.end(opened, self.output_of(opened) if output is ... else output, error=error, retryable=retryable)

    def end(self, opened: OpenTask, output: Any = None, *, error: str = "", retryable: bool = False) -> None:
        token = opened.task.token
        self.tasks.pop(token, None)
        if error:
            told = ErrorInfo("task.failed", error)
            self.give(TaskResult(token, opened.attempt, error=told, retryable=retryable))
        else:
            self.give(TaskResult(token, opened.attempt, values.encode(output)))

    def output_of(self, opened: OpenTask) -> Any:
        execution = self.machine.run.by_task(opened.task.token)
        assert execution is not None
        return self._work(execution.node, execution.loops)

    def open(self, node: str) -> OpenTask:
        return next(opened for opened in self.tasks.values() if opened.task.node == node)

    def decide(self, node: str, decision: str = "approve", by: str = "ann", comment: str = "") -> None:
        token = next(token for token in self.approvals if token.startswith(f"{node}."))
        self.give(Decided(token, decision, by, comment), f"decide-{len(self._log)}")

    def ring(self) -> None:
        """The next timer goes off."""
        token = min(self.timers, key=lambda each: self.timers[each])
        self.now = max(self.now, self.timers.pop(token))
        self.give(TimerFired(token))

    def crash(self) -> None:
        """Another process takes up what was recorded."""
        before = bytes(self.machine.snapshot())
        self.run = self._folded()
        assert bytes(self.machine.snapshot()) == before, "folding the log gives another state"
        self.tasks.clear()
        self.run.mailbox.append((Loaded("recover"), None))
        self._take(advance(self.run, self.now))

    def add(self, event: events.Event) -> None:
        """Records an event that no decision of this run makes."""
        self._log.append((self.now, values.plain([event])))
        self.run = self._folded()

    def open_letter(self, node: str) -> TaskToken:
        return next(each.token for each in self.letters.values() if each.label == node)

    @property
    def log(self) -> list[dict[str, Any]]:
        """As it would be stored: what each decision recorded, and when."""
        return [{"at": at, "events": msgspec.json.decode(rows)} for at, rows in self._log]

    def load(self, log: list[dict[str, Any]]) -> None:
        """Takes up a run that was recorded before."""
        self._log = [(row["at"], msgspec.json.encode(row["events"])) for row in log]
        self.run = self._folded()

    # -- what happened ----------------------------------------------------------------------------------------------

    @property
    def machine(self) -> GraphMachine:
        machine = self.run.machine
        assert isinstance(machine, GraphMachine)
        return machine

    def since(self, number: int) -> list[dict[str, Any]]:
        """The events after so many."""
        found: list[dict[str, Any]] = []
        for _, rows in reversed(self._log):
            if self._count - len(found) <= number:
                break
            found = [*msgspec.json.decode(rows), *found]
        return found[max(0, len(found) - (self._count - number)) :]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, rows in self._log for event in msgspec.json.decode(rows)]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def counters(self) -> list[tuple[int, int]]:
        return [(each["counter_before"], each["counter_after"]) for each in self.events if "counter_before" in each]

    @property
    def status(self) -> str:
        return self.run.state.status

    @property
    def output(self) -> Any:
        final = self.run.state.final
        assert isinstance(final, events.RunCompleted)
        return values.decode(final.output)

    @property
    def error(self) -> ErrorInfo:
        final = self.run.state.final
        assert isinstance(final, events.RunFailed)
        return final.error

    def of(self, type: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == type]

    # -- inside -------------------------------------------------------------------------------------------------------

    def _take(self, unit: UnitOfWork) -> None:
        if unit.events:
            self._log.append((unit.at, values.plain(unit.events)))
            self._count += len(unit.events)
        write = unit.write
        if write.clear_all:
            self.timers.clear()
            self.approvals.clear()
        for token in write.cleared:
            self.timers.pop(token, None)
        for timer in write.timers:
            self.timers[timer.token] = timer.due
        for change in write.approvals:
            if isinstance(change, Approval):
                self.approvals[change.token] = change
            elif change.status != "open":
                self.approvals.pop(change.token, None) if change.token is not None else self.approvals.clear()
        for letter in write.dead_letters:
            self.letters[letter.id] = letter
        for settled in write.settled:
            self.letters.pop(settled.id, None)
        for token in unit.revoked or ():
            self.tasks.pop(token, None)
        for child in unit.unresolved or ():
            self.children[child.token] = child
        for opened in unit.tasks:
            self.tasks[opened.task.token] = opened
        self.replies += list(write.taken)
        if unit.ended:
            self.tasks.clear()
        if unit.more:
            self.give(Continue())

    def _fresh(self) -> Run:
        machine = self.bundle.machine(self._info)
        return Run(self._info, machine, ids=Ids(seed=0), limits=Limits(), epoch=Epoch(1))

    def _folded(self) -> Run:
        run = self._fresh()
        for at, rows in self._log:
            for event in _EVENTS.decode(rows):
                run.fold(event, at)
        return run


def everything_here() -> GraphBundle:
    """A bundle that has a handler for every name."""
    bundle = GraphBundle()
    bundle.handlers = _All()  # pyright: ignore[reportAttributeAccessIssue]
    return bundle


class _All:
    def known(self, name: str) -> bool:
        return True

    def takes_context(self, name: str) -> bool:
        return False
