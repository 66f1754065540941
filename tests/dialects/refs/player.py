"""Plays a run on the kernel's `advance`, without an engine: what follows from a decision happens here.

    player = Player([tool("a"), tool("b", x="@a.n")])
    player.start({"n": 1})
    player.finish("a", {"n": 2})        # the task of step a succeeds
    assert player.inputs["b"] == {"x": 2}

Every input may be given twice, and the run folded anew from its log at any time: both must change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from plait.dialects.refs.bundle import RefsBundle
from plait.dialects.refs.running.events import RefsEvent
from plait.dialects.refs.running.machine import RefsMachine
from plait.dialects.refs.running.state import RefsStart, Work, split_id
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

_EVENTS: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[RefsEvent | events.KernelEvent])


class Player:
    def __init__(
        self,
        definition: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        limits: Limits | None = None,
        depth: int = 0,
        deadline: int | None = None,
    ) -> None:
        self.bundle = RefsBundle(limits=limits)
        self.definition = dict(definition) if isinstance(definition, Mapping) else {"steps": list(definition)}
        self._limits = limits or Limits()
        self._deadline = None if deadline is None else Millis(deadline)
        self._info = RunInfo(RUN, "default", "refs", "refs", depth=depth, deadline=self._deadline)
        self._log: list[tuple[Millis, bytes]] = []
        self.now = NOW
        self.tasks: dict[TaskToken, OpenTask] = {}
        self.timers: dict[TaskToken, Millis] = {}
        self.letters: dict[str, DeadLetter] = {}
        self.children: dict[TaskToken, StartChild] = {}
        self.cancelled: list[RunId] = []
        """Children."""
        self.keys: list[str] = []
        """Of every task that was begun."""
        self.refusals: list[tuple[str, str]] = []
        self.twice = False
        """Every input is given twice."""
        self._given = 0
        self.run = self._fresh()

    # -- inputs ----------------------------------------------------------------------------------------------------

    def start(self, input: Any = None) -> Player:
        plan = self.bundle.plans.made(self.definition, starting=True).plan
        data = RefsStart(plan.definition, plan.hash)
        given = values.encode({} if input is None else input)
        self.give(Start("refs", "refs", given, deadline=self._deadline, data=data))
        return self

    def give(self, input: AnyInput, key: str | None = None) -> None:
        for _ in range(2 if self.twice else 1):
            self.run.mailbox.append((input, key))
            self._take(advance(self.run, self.now))

    def ask(self, input: AnyInput) -> None:
        """An input from outside: a refusal is kept."""
        self._given += 1
        self.give(input, f"asked-{self._given}")

    def finish(self, id: str, output: Any = None) -> None:
        opened = self.tasks.pop(TaskToken(id))
        self.give(TaskResult(opened.task.token, opened.attempt, values.encode(output)))

    def fail(self, id: str, message: str = "no", *, code: str = "tool_error", retryable: bool = False) -> None:
        opened = self.tasks.pop(TaskToken(id))
        error = ErrorInfo(code, message, kind="timeout" if "timeout" in code else "error")
        self.give(TaskResult(opened.task.token, opened.attempt, error=error, retryable=retryable))

    def finish_all(self, work: Callable[[str, Any], Any] | None = None) -> None:
        """Every task succeeds, those that follow too; oldest first."""
        answer = work or (lambda id, input: {"id": id, "input": input})
        while self.tasks:
            id = next(iter(self.tasks))
            self.finish(id, answer(id, self.inputs.get(id.removesuffix("~transform"))))

    def child(self, id: str, status: Any = "completed", output: Any = None, error: ErrorInfo | None = None) -> None:
        child = self.children.pop(TaskToken(id))
        self.give(ChildFinished(child.token, child.run_id, status, values.encode(output), error))

    def ring(self) -> None:
        """The next timer goes off."""
        token = min(self.timers, key=lambda each: self.timers[each])
        self.now = max(self.now, self.timers.pop(token))
        self.give(TimerFired(token))

    def retry(self, scope: str = "", deadline: int | None = None) -> None:
        self.ask(Resume("retry", scope=scope, deadline=None if deadline is None else Millis(deadline)))

    def cancel(self, *, compensate: bool = False) -> None:
        self.ask(Cancel("enough", compensate))

    def patch(self, *operations: dict[str, Any]) -> None:
        self.ask(Patch(list(operations), "ann"))

    def message(self, name: str, body: Any = None) -> None:
        self.ask(Message(f"m-{self._given}", name, values.encode(body)))

    def crash(self) -> None:
        """Another process takes up what was recorded."""
        before, recoveries = bytes(self.machine.snapshot()), self.run.recoveries
        self.run = self._folded()
        self.run.recoveries = recoveries
        assert bytes(self.machine.snapshot()) == before, "folding the log gives another state"
        self.tasks.clear()
        self.run.mailbox.append((Loaded("recover"), None))
        self._take(advance(self.run, self.now))

    def add(self, event: events.Event) -> None:
        """Records an event that no decision of this run makes."""
        self._log.append((self.now, values.plain([event])))
        self.run = self._folded()

    @property
    def log(self) -> list[dict[str, Any]]:
        """As it would be stored: what each decision recorded, and when."""
        return [{"at": at, "events": msgspec.json.decode(rows)} for at, rows in self._log]

    def load(self, log: list[dict[str, Any]]) -> None:
        """Takes up a run that was recorded before."""
        self._log = [(Millis(row["at"]), msgspec.json.encode(row["events"])) for row in log]
        self.run = self._folded()

    # -- what happened ----------------------------------------------------------------------------------------------

    @property
    def machine(self) -> RefsMachine:
        machine = self.run.machine
        assert isinstance(machine, RefsMachine)
        return machine

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, rows in self._log for event in msgspec.json.decode(rows)]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

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
    def inputs(self) -> dict[str, Any]:
        """As steps and iterations were started with, by id."""
        return {
            each["step"] + ("" if each.get("index") is None else f"[{each['index']}]"): each.get("input")
            for each in self.of("step.started")
        }

    @property
    def statuses(self) -> dict[str, str]:
        return {step.name: self.machine.run.work(step.name).status for step in self.machine.run.plan.order}

    def work(self, id: str) -> Work:
        found = self.machine.run.find(*split_id(id))
        assert found is not None
        return found

    def of(self, type: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == type]

    def order(self, type: str) -> list[str]:
        """The steps of events of a type."""
        return [each["step"] for each in self.of(type)]

    # -- inside -------------------------------------------------------------------------------------------------------

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
            self.keys.append(opened.task.key)
        for taken in write.taken:
            refusal = refusal_of(taken)
            if refusal is not None:
                self.refusals.append((refusal.code, refusal.what))
        if unit.more:
            self.give(Continue())

    def _fresh(self) -> Run:
        machine = self.bundle.machine(self._info)
        return Run(self._info, machine, ids=Ids(seed=0), limits=self._limits, epoch=Epoch(1))

    def _folded(self) -> Run:
        run = self._fresh()
        for at, rows in self._log:
            for event in _EVENTS.decode(rows):
                run.fold(event, at)
        return run


# -- steps -------------------------------------------------------------------------------------------------------------


def step(
    name: str, action: Mapping[str, Any], input: Mapping[str, Any] | str, more: Mapping[str, Any]
) -> dict[str, Any]:
    return {"name": name, "action": dict(action), "input": input, **more}


def tool(name: str, input: Mapping[str, Any] | str | None = None, **more: Any) -> dict[str, Any]:
    return step(name, {"toolName": more.pop("toolName", name.upper())}, input or {}, more)


def code(name: str, input: Mapping[str, Any] | str | None = None, **more: Any) -> dict[str, Any]:
    return step(name, {"code": "export default function(input) { return input }"}, input or {}, more)


def ret(name: str, input: Mapping[str, Any] | str | None = None, **more: Any) -> dict[str, Any]:
    return step(name, {"return": True}, input or {}, more)


def call(name: str, input: Mapping[str, Any] | str | None = None, **more: Any) -> dict[str, Any]:
    return step(name, {"function": more.pop("function", name)}, input or {}, more)


def workflow(name: str, input: Mapping[str, Any] | str | None = None, **more: Any) -> dict[str, Any]:
    action = {"workflow": more.pop("workflow", "kid")}
    if "wait" in more:
        action["wait"] = more.pop("wait")
    return step(name, action, input or {}, more)
