"""`engine.afl`: handlers, the language's tools, telemetry, and the records of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, overload

from plait.kernel.errors import NotFound
from plait.kernel.ids import DEFAULT_NAMESPACE
from plait.kernel.machine import Machine
from plait.kernel.observer import Observers
from plait.kernel.retry import Retry
from plait.kernel.store import RunRow

from .bundle import AflBundle
from .definition import Source
from .handlers import Registration, Target, child, http, queue
from .language.compile import Compiled, compile_source
from .language.diagnostic import Diagnostic
from .language.formatting.format import format_source
from .language.loading import read_sources
from .language.source_file import SourceFile
from .names import NAME, WORKFLOW_VERSION
from .preparation import refused
from .running.machine import AflMachine
from .running.nodes import StepNode
from .running.prompts import filled
from .running.state import AflState, EventRecord, StepRecord
from .stored_handlers import StoredHandlers
from .telemetry import Sink

F = TypeVar("F", bound=Callable[..., Any])


class HasMachine(Protocol):
    @property
    def machine(self) -> Machine: ...


class HasRow(Protocol):
    async def row(self) -> RunRow: ...


class Kernel(Protocol):
    @property
    def observers(self) -> Observers: ...

    async def peek(self, row: RunRow) -> HasMachine: ...


class Host(Protocol):
    @property
    def kernel(self) -> Kernel: ...

    async def get(self, id: str, namespace: str = ...) -> HasRow: ...


class AflInterface:
    """The interface for one namespace; `of` returns that for another."""

    http = staticmethod(http)
    child = staticmethod(child)
    queue = staticmethod(queue)

    def __init__(self, host: Any, bundle: AflBundle, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._host: Host = host
        self._bundle = bundle
        self.namespace = namespace

    def of(self, namespace: str) -> AflInterface:
        return AflInterface(self._host, self._bundle, namespace)

    # -- handlers ------------------------------------------------------------------------------------------------

    @overload
    def handler(
        self,
        name: str,
        target: None = None,
        *,
        timeout: float | None = None,
        retry: Retry | None = None,
        compensate: str | None = None,
    ) -> Callable[[F], F]: ...
    @overload
    def handler(
        self,
        name: str,
        target: Target,
        *,
        timeout: float | None = None,
        retry: Retry | None = None,
        compensate: str | None = None,
    ) -> None: ...
    def handler(
        self,
        name: str,
        target: Any = None,
        *,
        timeout: float | None = None,
        retry: Retry | None = None,
        compensate: str | None = None,
    ) -> Any:
        """Registers the handler of a facet's events, by qualified or short name: a function, `http(url)`,
        `child(definition)` or `queue(name)`. Also a decorator."""

        def register(found: Any) -> Any:
            self._bundle.handlers.add(Registration(name, found, timeout, retry, compensate or ""))
            return found

        return register if target is None else register(target) and None

    @property
    def handlers(self) -> list[Registration]:
        return self._bundle.handlers.all()

    @property
    def stored(self) -> StoredHandlers:
        """Handlers that namespaces have registered over HTTP."""
        if self._bundle.stored is None:
            raise NotFound("AFL_NO_HANDLER", "nothing can be registered here")
        return self._bundle.stored

    def remove_handler(self, name: str) -> None:
        if not self._bundle.handlers.remove(name):
            raise NotFound("AFL_NO_HANDLER", f"no handler is registered for `{name}`", fix="look at the list of them")

    async def prompt(self, run: str, step_id: str) -> str | None:
        """The text of a facet's prompt, filled in from the params of a step."""
        node = (await self.machine(run)).run.nodes.get(step_id)
        found = None if node is None or node.declaration is None else node.declaration.prompt
        return None if found is None or node is None else filled(found.template, node.record.params)

    # -- telemetry -----------------------------------------------------------------------------------------------

    def telemetry(self, sink: Sink) -> None:
        """Sends every record to `sink` after its commit; a sink that fails or is slow loses records, and is counted."""
        self._bundle.listen(self._host.kernel.observers)
        self._bundle.telemetry.add(sink)

    @property
    def dropped(self) -> int:
        """The number of records that sinks have lost."""
        return self._bundle.telemetry.dropped

    async def close_telemetry(self) -> None:
        """Waits until the sinks have all records, unless one is stuck."""
        await asyncio.to_thread(self._bundle.telemetry.close)

    # -- libraries -----------------------------------------------------------------------------------------------

    @property
    def libraries(self) -> Sequence[str | Path]:
        """Directories or files where namespaces are looked up that a program uses but does not contain, whoever sends
        it. Defaults to PLAIT_AFL_LIBRARIES."""
        return self._bundle.libraries

    @libraries.setter
    def libraries(self, found: Sequence[str | Path]) -> None:
        self._bundle.libraries = found

    # -- the language --------------------------------------------------------------------------------------------

    def check(self, source: Source, libraries: Sequence[str | Path] = (), *, strict: bool = False) -> list[Diagnostic]:
        """Errors and warnings of a program."""
        return list(compile_source(read_sources(source, [*libraries, *self.libraries]), strict=strict).diagnostics)

    def compile(
        self,
        source: Source,
        libraries: Sequence[str | Path] = (),
        *,
        version: str = WORKFLOW_VERSION,
        strict: bool = False,
    ) -> dict[str, Any]:
        """The compiled form; raises with all errors."""
        found = compile_source(read_sources(source, [*libraries, *self.libraries]), version=version, strict=strict)
        if isinstance(found, Compiled):
            return found.program
        raise refused(found.diagnostics)

    def format(self, text: str) -> str:
        """The same program, formatted; raises if it can't be parsed."""
        found = format_source(SourceFile("source.afl", text))
        if found.text is None:
            raise refused(found.diagnostics)
        return found.text

    # -- runs ----------------------------------------------------------------------------------------------------

    async def machine(self, run: str) -> AflMachine:
        row = await (await self._host.get(run, self.namespace)).row()
        if row.dialect != NAME:
            raise NotFound("AFL_NO_RUN", f"run {run} is no AFL run", why=f"its dialect is {row.dialect}")
        return cast("AflMachine", (await self._host.kernel.peek(row)).machine)

    async def state(self, run: str) -> AflState:
        machine = await self.machine(run)
        if not machine.started:
            raise NotFound("AFL_NO_STEP", "the run has no steps yet", why="no engine has taken it up")
        return machine.run.state

    async def steps(
        self, run: str, *, block_id: str | None = None, container_id: str | None = None, state: str | None = None
    ) -> list[StepRecord]:
        found = (await self.state(run)).steps.values()
        return [
            each
            for each in found
            if block_id in (None, each.block_id)
            and container_id in (None, each.container_id)
            and state in (None, each.state)
        ]

    async def step(self, run: str, id: str) -> StepRecord:
        found = (await self.state(run)).steps.get(id)
        if found is None:
            raise NotFound("AFL_NO_STEP", f"there is no step {id[:80]}", fix="use the id of one")
        return found

    async def blocks(self, run: str, step_id: str) -> list[StepRecord]:
        """The blocks of a step, by index."""
        machine = await self.machine(run)
        node: StepNode | None = machine.run.nodes.get(step_id)
        if node is None:
            raise NotFound("AFL_NO_STEP", f"there is no step {step_id[:80]}", fix="use the id of one")
        return [each.record for each in (*node.blocks, *node.catches)]

    async def events(self, run: str, *, state: str | None = None) -> list[EventRecord]:
        found = (await self.state(run)).events.values()
        return [each for each in found if state in (None, each.state)]

    async def event(self, run: str, id: str) -> EventRecord:
        found = (await self.state(run)).events.get(id)
        if found is None:
            raise NotFound("AFL_NO_EVENT", f"there is no event {id[:80]}", fix="use the id of one")
        return found
