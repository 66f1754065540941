"""The `code` dialect: async functions, replayed from their history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.bundle import ForkPlan, Resolved
from plait.kernel.definitions import Description, Numbering, Plan
from plait.kernel.errors import Conflict, ErrorInfo, Flaw, InvalidInput
from plait.kernel.events import Recorded
from plait.kernel.ids import Millis, caller_id
from plait.kernel.machine import Machine, RunInfo
from plait.kernel.task import Executor

from .definition import NAME, Workflow, is_step, label_of
from .description import describe
from .errors import HistoryDivergedError, to_exception
from .events import CodeEvent, RunForked
from .host import Surroundings
from .machine import CodeMachine
from .queued_steps import StepExecutor
from .registry import Registry

_EDITED = ("step", "loop", "child", "approval")


class Functions(Protocol):
    """The functions that this process can call for tasks, of all dialects."""

    def add(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        arguments: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        cluster: tuple[str, str] | None = None,
    ) -> None: ...

    @property
    def names(self) -> Collection[str]: ...


class CodeBundle:
    name = NAME
    events: Any = CodeEvent
    rewinds = True
    retries_compensated = False
    edits_agents = False
    edits_outputs = True
    hears_after_end = False
    numbering: Numbering = "count"
    surface = "plait.dialects.code.surface"

    def __init__(
        self,
        definitions: Iterable[object] = (),
        max_payload: int = values.MAX_BYTES,
        functions: Functions | None = None,
        *,
        embedded: bool = False,
    ) -> None:
        """`functions` are what tasks of all dialects may call by name, steps included. `embedded` means that the run
        has no engine around it."""
        self._embedded = embedded
        self._functions = functions
        self.registry = Registry(definitions)
        self._steps = StepExecutor()
        self.executors: Sequence[Executor] = (self._steps,)
        """The executor of queued steps. Other steps are called directly in the owner's process."""
        self._max_payload = max_payload

    # -- definitions ---------------------------------------------------------------------------------------------

    def declare(self, definition: object) -> bool:
        if is_step(definition):
            self._steps.add(definition)
            if self._functions is not None:
                on = definition.given.get("on")
                cluster = None if on is None else (on, definition.ref)
                self._functions.add(definition.name, definition.fn, arguments=definition.keywords, cluster=cluster)
            return True
        if not isinstance(definition, Workflow):
            return False
        self.registry.add(cast("object", definition))
        return True

    def accepts(self, definition: object) -> bool:
        return isinstance(definition, (Workflow, str))

    def read(self, definition: str | dict[str, Any]) -> object:
        if isinstance(definition, str):
            return definition
        raise InvalidInput(
            "CODE_NOT_LOADED", "a workflow is code, not JSON", fix='name one that is loaded: "order" or "order@2"'
        )

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        self.read(definition)
        return ()

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        if isinstance(definition, str):
            found = self.registry.find((definition, None)) or self.registry.get(definition)
        else:
            found = self._known(definition)
        raw = values.encode(input, max_bytes=self._max_payload)
        self._check_input(found, raw)
        return Resolved(found.name, found.version, raw)

    def _known(self, definition: object) -> Workflow[..., Any]:
        found = cast("Workflow[..., Any]", definition)
        if self.registry.find((found.name, found.version)) is not found:
            self.registry.add(found)  # a later replay must find it
        return found

    def _check_input(self, definition: Workflow[..., Any], raw: Raw) -> None:
        if not definition.takes_input:
            if bytes(raw) != b"null":
                raise InvalidInput(
                    "CODE_INPUT_INVALID", f"`{definition.label}` takes no input", fix="start it without one"
                )
            return
        try:
            definition.arguments(raw)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            text, _, place = str(error).partition(" - at `$")
            flaw = Flaw("CODE_INPUT_INVALID", f"/input{values.pointer(place.rstrip('`'))}", text)
            what = f"the input does not fit `{definition.label}`"
            raise InvalidInput("CODE_INPUT_INVALID", what, why=str(error), flaws=[flaw]) from None

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        resolved = await self.resolve(definition, input, namespace)
        note = "a workflow function decides as it goes: its steps are known when it has taken them"
        return Plan(
            dialect=self.name,
            definition=resolved.definition,
            version=resolved.version,
            input=values.decode(resolved.input),
            notes=[note],
        )

    def describe(self) -> list[Description]:
        return [describe(definition) for definition in self.registry.all()]

    def code(self) -> Collection[str]:
        """The names of workflows, and of the functions that runs of other dialects call."""
        functions = () if self._functions is None else self._functions.names
        return [*self.registry.labels, *(f"python:{name}" for name in functions)]

    def code_of(self, definition: str, version: str | None) -> str:
        return label_of(definition, version)

    def returns(self, definition: str, version: str | None) -> Any:
        found = self.registry.find((definition, version))
        return Any if found is None else found.returns

    def failure(self, error: ErrorInfo) -> BaseException:
        return to_exception(error)

    def blocked(self, run_id: str, error: ErrorInfo) -> HistoryDivergedError:
        return HistoryDivergedError(run_id, error)

    # -- runs ----------------------------------------------------------------------------------------------------

    def machine(self, info: RunInfo) -> CodeMachine:
        return CodeMachine(Surroundings(info, self.registry, self._max_payload, self._embedded))

    def restore(self, info: RunInfo, snapshot: Raw) -> CodeMachine:
        machine = self.machine(info)
        machine.restore(snapshot)
        return machine

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        history = cast("CodeMachine", machine).history
        if at is None:
            return history.begun_seq
        op = history.ops.get(at)
        if op is None:
            raise Conflict(
                "CODE_REWIND_TARGET",
                f"nothing is recorded at `{at}`",
                why="the path is unknown, or was trimmed with its loop iteration",
                fix="`plait show` lists the paths",
            )
        return op.opened_seq - 1

    def query(self, machine: Machine, name: str, argument: Raw, now: Millis) -> Raw:
        return cast("CodeMachine", machine).query(name, argument, now)

    def published(self, machine: Machine, key: str) -> Raw | None:
        return cast("CodeMachine", machine).history.latest.get(key)

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        return False

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        code = cast("CodeMachine", machine)
        history = code.history
        last = history.end_seq - 1 if history.end_seq else history.seq
        upto = last if at is None else at if isinstance(at, int) else self.rewind_point(machine, at)
        if not 1 <= upto <= history.seq:
            raise InvalidInput("kernel.bad_fork", f"there is no event {upto}", fix=f"use 1 to {last}")
        checked = {path: self._edit(code, path, value, upto) for path, value in edits.items()}
        return ForkPlan(upto, RunForked(caller_id(code.info.run_id), upto, checked))

    # -- life ----------------------------------------------------------------------------------------------------

    async def open(self, *, working: bool) -> None:
        """Does nothing: code is loaded with its process."""

    async def drain(self) -> None:
        return None

    async def close(self) -> None:
        return None

    def _edit(self, code: CodeMachine, path: str, value: object, upto: int) -> Any:
        """The new result of an operation, checked, as plain JSON."""
        op = code.history.ops.get(path)
        if op is None or op.kind not in _EDITED or not op.order or not 0 < op.closed_seq <= upto:
            raise InvalidInput(
                "kernel.bad_edit",
                f"`{path}` has no result at event {upto} that could be another",
                fix=f"edit a {', '.join(_EDITED)} that ended before the place of the fork",
            )
        if (above := code.history.closed_above(path, upto)) is not None:
            raise InvalidInput(
                "kernel.bad_edit",
                f"another result of `{path}` would change nothing",
                why=f"{above.kind} `{above.at}` has ended, and what is inside it is not played again",
                fix=f"fork before the end of `{above.at}`, or edit what comes after it",
            )
        raw = values.encode(value, max_bytes=self._max_payload)
        try:
            values.decode(raw, code.type_of(path))
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise InvalidInput("kernel.bad_edit", f"the new result of `{path}` does not fit", why=str(error)) from None
        return values.decode(raw)
