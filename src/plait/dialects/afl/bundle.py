"""The `afl` dialect: programs of facets, events and workflows, iterated to a fixed point."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec import Raw

from plait.agents.models import Models
from plait.kernel import values
from plait.kernel.bundle import ForkPlan, Resolved
from plait.kernel.definitions import Contents, Description, Numbering, Plan
from plait.kernel.errors import Conflict, ErrorInfo, Flaw, InvalidInput, NotFound, RunBlocked
from plait.kernel.events import Recorded
from plait.kernel.limits import Limits
from plait.kernel.machine import Machine, RunInfo
from plait.kernel.measured import Counted
from plait.kernel.observer import Observers
from plait.kernel.task import Executor

from .contents import contents_of
from .definition import Afl
from .executors import HandlerExecutor, Tell
from .handlers import Handlers, Lookup, Registration
from .libraries import completed, configured_libraries
from .names import NAME
from .preparation import Prepared, prepared
from .program.parts import Declaration
from .running.events import AflEvent
from .running.forking import fork
from .running.iteration import RunContext
from .running.machine import AflMachine
from .running.programs import Programs
from .running.state import AflStart
from .running.types import misfit
from .running.work import code_name
from .scripts import HasLanguages, ScriptExecutor
from .stored_handlers import StoredHandlers
from .telemetry import Sinks
from .telemetry_observer import TelemetryObserver


class AflBundle:
    name = NAME
    events: Any = AflEvent
    rewinds = False
    retries_compensated = False
    edits_agents = False
    edits_outputs = False
    hears_after_end = True
    numbering: Numbering = "count"
    surface = "plait.dialects.afl.surface"

    def __init__(
        self,
        definitions: Iterable[object] = (),
        *,
        limits: Limits | None = None,
        tell: Tell | None = None,
        scripts: HasLanguages | None = None,
        stored: StoredHandlers | None = None,
        executors: Sequence[Executor] = (),
        observers: Observers | None = None,
        models: Models | None = None,
    ) -> None:
        """`tell` sends messages to runs: updates that a handler sends before its answer. With `observers`, events of
        runs are counted."""
        self.handlers = Handlers()
        self.models = models or Models()
        self.stored = stored
        """Handlers that namespaces have registered over HTTP; None if they can't."""
        self.libraries: Sequence[str | Path] = configured_libraries()
        """Where namespaces are looked up that a program uses but does not contain."""
        self.telemetry = Sinks()
        self._listens = False
        if observers is not None and observers.any:
            self.listen(observers)
        self.programs = Programs()
        self._limits = limits or Limits()
        self._declared: dict[str, Afl] = {}
        self.executors: Sequence[Executor] = (
            HandlerExecutor(self.handlers, tell),
            *(() if scripts is None else (ScriptExecutor(scripts),)),
            *executors,
        )
        for definition in definitions:
            self.declare(definition)

    def listen(self, observers: Observers) -> None:
        """Starts reporting commits to the sinks, and counting them."""
        if not self._listens:
            self._listens = True
            observers.add(TelemetryObserver(self.telemetry))

    def counters(self) -> Iterable[Counted]:
        return self.telemetry.counters()

    # -- definitions ---------------------------------------------------------------------------------------------

    def declare(self, definition: object) -> bool:
        if isinstance(definition, Registration):
            self.handlers.add(definition)
        elif isinstance(definition, Afl):
            self._declared[definition.label] = definition
            self._keep_handlers(definition)
        else:
            return False
        return True

    def accepts(self, definition: object) -> bool:
        return isinstance(definition, Afl)

    def read(self, definition: str | dict[str, Any]) -> Afl:
        """Reads a program from JSON. A name refers to a saved program, or one declared in this process."""
        if isinstance(definition, str):
            if (declared := self._declared.get(definition)) is not None:
                return declared
            raise NotFound("AFL_UNKNOWN_WORKFLOW", f"there is no workflow `{definition}`", fix="save it first")
        return Afl(definition)

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        made = await self._prepared(definition)
        made.chosen()
        return made.warnings

    async def contents(self, definition: dict[str, Any], namespace: str) -> Contents:
        whole = await completed(definition, self.libraries)
        return contents_of(await prepared(whole), whole)

    async def _prepared(self, definition: Mapping[str, Any]) -> Prepared:
        return await prepared(await completed(definition, self.libraries))

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        found = cast("Afl", definition)
        made = await self._prepared(found.definition)
        workflow = made.workflow()
        given: object = dict[str, Any]() if input is None else input
        raw = values.encode(given, max_bytes=self._limits.max_payload)
        _check_input(made, workflow, values.decode(raw))
        self._keep_handlers(found)
        kept = {} if self.stored is None else await self.stored.of(namespace)
        stored = {name: each.binding for name, each in kept.items()}
        has_model = bool(self.models.names) or self.models.elsewhere
        lookup = Lookup(found.handlers, self.handlers, stored=stored, has_model=has_model)
        start = AflStart(
            workflow.name,
            made.hash,
            made.compiled,
            lookup.bindings(made.program),
            made.strict,
            made.version,
            sources=made.sources,
        )
        return Resolved(workflow.name, made.version, raw, start, identity=made.hash.encode())

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        made = await self._prepared(cast("Afl", definition).definition)
        workflow = made.workflow()
        return Plan(
            dialect=NAME,
            definition=workflow.name,
            version=made.version,
            input=input,
            notes=list(made.warnings),
            body={"workflow": workflow.name, "events": [each.name for each in made.program.event_facets]},
        )

    def describe(self) -> list[Description]:
        """Empty: programs are saved or given, not loaded."""
        return []

    def returns(self, definition: str, version: str | None) -> Any:
        return Any

    def failure(self, error: ErrorInfo) -> None:
        return None

    def blocked(self, run_id: str, error: ErrorInfo) -> RunBlocked:
        return RunBlocked(run_id, error)

    def _keep_handlers(self, definition: Afl) -> None:
        """Registers functions that come with a definition, so that this process can call them from then on."""
        for each in definition.handlers.all():
            if self.handlers.get(each.name) is not each:
                self.handlers.add(each)

    def code(self) -> Collection[str]:
        """The handler functions of this process; the other bindings of a run are recorded in it."""
        return [code_name(each.name) for each in self.handlers.all() if callable(each.target)]

    # -- runs ----------------------------------------------------------------------------------------------------

    def machine(self, info: RunInfo) -> AflMachine:
        return AflMachine(RunContext(info, self._limits), self.programs)

    def restore(self, info: RunInfo, snapshot: Raw) -> AflMachine:
        machine = self.machine(info)
        machine.restore(snapshot)
        return machine

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        return False

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        source = cast("AflMachine", machine)
        return fork(source.run, source.context.info.run_id, at, edits)

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        raise Conflict("AFL_UNSUPPORTED", "an AFL run can't be rewound", fix="fork it: fork(at=..., edits=...)")

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self, *, working: bool) -> None:
        return None

    async def drain(self) -> None:
        return None

    async def close(self) -> None:
        if self.telemetry.listening:  # a sink may be slow; without any there is nothing to wait for
            await asyncio.to_thread(self.telemetry.close)


def _check_input(made: Prepared, workflow: Declaration, given: Any) -> None:
    if not isinstance(given, dict):
        raise InvalidInput("AFL_INPUT", "the input of a workflow is an object", fix='use {"name": value}')
    found = cast("dict[str, Any]", given)
    flaws: list[Flaw] = []
    for param in workflow.params:
        text = misfit(found.get(param.name), param.type, made.program)
        if text:
            flaws.append(Flaw("AFL_INPUT", f"/input/{param.name}", f"'{param.name}': {text}"))
    if flaws:
        raise InvalidInput("AFL_INPUT", f"the input does not fit {workflow.name}", why=flaws[0].message, flaws=flaws)
