"""Plays a run of AFL on decisions, without an engine: events are answered by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from plait.dialects.afl.bundle import AflBundle
from plait.dialects.afl.handlers import Handlers, Lookup, Registration, Target
from plait.dialects.afl.preparation import prepare
from plait.dialects.afl.running.events import AflEvent
from plait.dialects.afl.running.machine import AflMachine
from plait.dialects.afl.running.nodes import path_of
from plait.dialects.afl.running.state import AflStart, StepRecord
from plait.engine.ask import refusal_of
from plait.kernel import events, values
from plait.kernel.advance import advance
from plait.kernel.effects import StartChild
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Epoch, Ids, Millis, RunId, TaskToken
from plait.kernel.inputs import (
    AnyInput,
    Cancel,
    ChildFinished,
    Continue,
    Loaded,
    Message,
    Patch,
    Resume,
    Start,
    TaskResult,
    TimerFired,
)
from plait.kernel.limits import Limits
from plait.kernel.machine import RunInfo
from plait.kernel.run import Run
from plait.kernel.store import DeadLetter
from plait.kernel.tasks import OpenTask
from plait.kernel.unit_of_work import UnitOfWork

RUN = RunId("run")
NOW = Millis(1_000)

_EVENTS: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[AflEvent | events.KernelEvent])


class Player:
    """`handlers` are those of the definition; facets without one are done by a function, which the test stands for."""

    def __init__(
        self,
        source: str,
        workflow: str = "",
        *,
        handlers: Mapping[str, Target | Registration] | None = None,
        strict: bool = False,
        deadline: int | None = None,
        paced: bool = False,
        run_id: RunId = RUN,
    ) -> None:
        self.bundle = AflBundle()
        self.source, self.workflow, self.strict = source, workflow, strict
        definition: dict[str, Any] = {"source": source, "strict": strict}
        self.prepared = prepare({**definition, "workflow": workflow} if workflow else definition)
        own = Handlers()
        for name, found in (handlers or {}).items():
            own.add(found if isinstance(found, Registration) else Registration(name, found))
        for facet in self.prepared.program.event_facets:
            if own.find(facet.name) is None:
                own.add(Registration(facet.name, print))
        self._bindings = Lookup(own).bindings(self.prepared.program)
        self._deadline = None if deadline is None else Millis(deadline)
        self._info = RunInfo(run_id, "default", "afl", "afl", deadline=self._deadline)
        self._log: list[tuple[Millis, bytes]] = []
        self.now = NOW
        self.tasks: dict[TaskToken, OpenTask] = {}
        self.children: dict[TaskToken, StartChild] = {}
        self.timers: dict[TaskToken, Millis] = {}
        self.letters: dict[str, DeadLetter] = {}
        self.cancelled: list[RunId] = []
        self.refusals: list[tuple[str, str]] = []
        self.paced = paced
        """Iterations wait for `go`."""
        self.due = False
        self._given = 0
        self.run = self._fresh()

    # -- inputs ----------------------------------------------------------------------------------------------------

    def start(self, **input: Any) -> Player:
        found, workflow = self.prepared, self.prepared.workflow()
        data = AflStart(workflow.name, found.hash, found.compiled, self._bindings, self.strict)
        self.give(Start("afl", workflow.name, values.encode(input), deadline=self._deadline, data=data))
        return self

    def give(self, input: AnyInput, key: str | None = None) -> None:
        self.run.mailbox.append((input, key))
        self._take(advance(self.run, self.now))

    def go(self) -> None:
        """The next iteration."""
        assert self.due
        self.due = False
        self.give(Continue())

    def ask(self, input: AnyInput) -> None:
        """An input from outside: a refusal is kept."""
        self._given += 1
        self.give(input, f"asked-{self._given}")

    def finish(self, path: str, output: Any = None) -> None:
        opened = self.tasks.pop(self.token(path))
        self.give(TaskResult(opened.task.token, opened.attempt, values.encode(output)))

    def fail(self, path: str, message: str = "no", *, code: str = "task.failed", type: str = "ValueError") -> None:
        opened = self.tasks.pop(self.token(path))
        error = ErrorInfo(code, message, type=type)
        self.give(TaskResult(opened.task.token, opened.attempt, error=error, retryable=False))

    def finish_all(self, work: Callable[[str, Any], Any] | None = None) -> None:
        """Every task succeeds, those that follow too; oldest first."""
        while self.tasks:
            path = next(iter(self.open))
            self.finish(path, (work or (lambda path, payload: {}))(path, self.open[path]))

    def child(self, path: str, status: Any = "completed", output: Any = None, error: ErrorInfo | None = None) -> None:
        child = self.children.pop(self.token(path, self.children))
        self.give(ChildFinished(child.token, child.run_id, status, values.encode(output), error))

    def step_continue(self, path: str, **result: Any) -> None:
        self.message("StepContinue", {"step_id": self.step(path).id, "result": result})

    def message(self, name: str, body: Any = None) -> None:
        self.ask(Message(f"m-{self._given}", name, values.encode(body)))

    def retry(self) -> None:
        self.ask(Resume("retry"))

    def cancel(self, *, compensate: bool = False) -> None:
        self.ask(Cancel("enough", compensate))

    def patch(self, *operations: dict[str, Any]) -> None:
        self.ask(Patch(list(operations), "ann"))

    def ring(self) -> None:
        """The next timer goes off."""
        token = min(self.timers, key=lambda each: self.timers[each])
        self.now = max(self.now, self.timers.pop(token))
        self.give(TimerFired(token))

    def crash(self) -> None:
        """Another process takes up what was recorded."""
        before, recoveries = bytes(self.machine.snapshot()), self.run.recoveries
        self.run = self._folded()
        self.run.recoveries = recoveries
        assert bytes(self.machine.snapshot()) == before, "folding the log gives another state"
        self.tasks.clear()
        self.due = False
        self.run.mailbox.append((Loaded("recover"), None))
        self._take(advance(self.run, self.now))

    # -- what happened ---------------------------------------------------------------------------------------------

    @property
    def machine(self) -> AflMachine:
        machine = self.run.machine
        assert isinstance(machine, AflMachine)
        return machine

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, rows in self._log for event in msgspec.json.decode(rows)]

    @property
    def log(self) -> list[dict[str, Any]]:
        return [{"at": at, "events": msgspec.json.decode(rows)} for at, rows in self._log]

    def load(self, log: list[dict[str, Any]]) -> None:
        self._log = [(Millis(row["at"]), msgspec.json.encode(row["events"])) for row in log]
        self.run = self._folded()

    def add(self, event: events.Event) -> None:
        """Records an event that no decision of this run makes."""
        self._log.append((self.now, values.plain([event])))
        self.run = self._folded()

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def of(self, type: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == type]

    @property
    def status(self) -> str:
        return self.run.state.status

    @property
    def output(self) -> Any:
        final = self.run.state.final
        assert isinstance(final, events.RunCompleted), final
        return values.decode(final.output)

    @property
    def error(self) -> ErrorInfo:
        final = self.run.state.final
        assert isinstance(final, events.RunFailed), final
        return final.error

    @property
    def paths(self) -> dict[str, StepRecord]:
        """Steps by path; blocks and yields are left out."""
        kinds = ("VariableAssignment", "SchemaInstantiation", "Facet")
        nodes = self.machine.run.nodes.values()
        return {path_of(each): each.record for each in nodes if each.record.object_type in kinds}

    def step(self, path: str) -> StepRecord:
        return self.paths[path]

    @property
    def open(self) -> dict[str, Any]:
        """Payloads of what waits for an answer, by path; scripts as `script:path`."""
        found: dict[str, Any] = {}
        for token, opened in self.tasks.items():
            input = opened.task.input
            given = getattr(input, "payload", None) or getattr(input, "params", None) or input.body
            found[self._path(token)] = values.decode(given)
        return found

    @property
    def created(self) -> list[list[str]]:
        """What each iteration created: names of steps, kinds of blocks, `yield`."""
        found: list[list[str]] = [[]]
        for event in self.events:
            if event["type"] == "afl.step.created":
                step = event["step"]
                name = step.get("statement_name")
                found[-1].append(name or ("yield" if step["object_type"] == "YieldAssignment" else step["object_type"]))
            elif event["type"] == "afl.iteration":
                found.append([])
        return found[:-1]

    def token(self, path: str, among: Mapping[TaskToken, Any] | None = None) -> TaskToken:
        return next(token for token in (self.tasks if among is None else among) if self._path(token) == path)

    def _path(self, token: str) -> str:
        id = token.removeprefix("compensate:").removeprefix("script:").partition(":")[0]
        node = self.machine.run.nodes[id]
        prefix = token[: token.index(id)]
        return prefix + (path_of(node) if not node.is_block else f"block of {path_of(node) or 'root'}")

    # -- inside ----------------------------------------------------------------------------------------------------

    def _take(self, unit: UnitOfWork) -> None:
        if unit.events:
            self._log.append((unit.at, values.plain(unit.events)))
        write = unit.write
        if write.clear_all:
            self.timers.clear()
        for token in write.cleared:
            self.timers.pop(token, None)
        for timer in write.timers:
            self.timers[timer.token] = timer.due
        for letter in write.dead_letters:
            self.letters[letter.id] = letter
        for settled in write.settled:
            self.letters.pop(settled.id, None)
        for token in unit.revoked or ():
            self.tasks.pop(token, None)
        for child in unit.unresolved or ():
            self.children[child.token] = child
        self.cancelled += [row.run_id for row in write.inbox if row.key.startswith("~cancel:")]
        for opened in unit.tasks:
            self.tasks[opened.task.token] = opened
        for taken in write.taken:
            refusal = refusal_of(taken)
            if refusal is not None:
                self.refusals.append((refusal.code, refusal.what))
        if unit.more:
            if self.paced:
                self.due = True
            else:
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
