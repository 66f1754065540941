"""`run_workflow`: one run, in passes.

A pass reads everything, replays the function and runs its steps. It ends when only time or messages are awaited
(`yield`), or keeps running (`live`). The host runs the workflow again when its alarm rings or a message has arrived.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from plait.dialects.code.definition import Workflow, is_workflow, workflow
from plait.dialects.code.op_state import OpState
from plait.dialects.code.options import bad_option
from plait.kernel import values
from plait.kernel.clock import Clock, SystemClock
from plait.kernel.errors import ErrorInfo, RunFailed
from plait.kernel.events import RunCancelled, RunCompleted
from plait.kernel.ids import Ids, run_key
from plait.kernel.inputs import AnyInput, Cancel, Resume
from plait.kernel.run import cancelled

from .driver import Driver
from .inbox import append_for_later, new_message
from .keys import RUN, Field, pack
from .mirror import Mirror, State
from .one_pass import Pass, Setup
from .rewinding import state_before
from .store import EVICTED

Mode = Literal["yield", "live"]
_STATE = pack(RUN, Field.STATE)


@dataclass(frozen=True, slots=True)
class PassResult:
    """The outcome of a pass. A run that failed or was cancelled raises `RunFailed` instead."""

    state: State
    output: Any = None
    sleep_until: int | None = None
    """When to run it again, in milliseconds; None: when a message arrives."""
    waiting_for: list[str] = field(default_factory=list[str])
    """The names of the messages that it listens for."""


class WorkflowHandle:
    """One embedded run. Await it for the result of the current pass."""

    def __init__(self, setup: Setup, mode: Mode) -> None:
        self._setup = setup
        self._live = mode == "live"
        self._pass: Pass | None = None
        self._task = self._begin(None)

    def __await__(self) -> Generator[Any, Any, PassResult]:
        return self.result().__await__()

    async def result(self) -> PassResult:
        """Waits for the end of the pass. Raises `RunFailed`, from the run's own exception, if it has failed or was
        cancelled, `HistoryDivergedError` if its code does not fit, and whatever the driver raised."""
        return await asyncio.shield(self._task)

    def _begin(self, request: AnyInput | None) -> asyncio.Task[PassResult]:
        self._pass = Pass(self._setup, request, live=self._live)
        self._task = asyncio.ensure_future(self._go(self._pass))
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._task

    async def _go(self, one: Pass) -> PassResult:
        mirror = await one.run()
        return _result(mirror, self._setup, one)

    # -- control -------------------------------------------------------------------------------------------------

    async def message(self, name: str, body: Any = None, id: str | None = None) -> str:
        """Sends a message: it is stored, and delivered to the current pass, if any; otherwise the host must run the
        workflow again. The same id twice is one message. A run that has ended takes none."""
        setup = self._setup
        message = new_message(name, body, id, setup.ids, setup.clock)
        if self._pass is None or not await self._pass.tell(message):
            await append_for_later(setup.driver, setup.run_id, setup.workflow_id, message)
        return message.id

    async def evict(self) -> None:
        """Ends the pass at its next batch, or at once if this handle's waits, so that another host can take over."""
        await self._setup.driver.set(EVICTED, b"1")
        if self._pass is not None:
            self._pass.leave()

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        """Ends the run. With `compensate`, its steps are rolled back first."""
        await self._request(Cancel(reason, compensate))

    async def recover(self) -> None:
        """Continues a run that failed or is blocked: what failed is retried."""
        await self._request(Resume("retry"))

    async def rewind(self, at: str | None = None) -> None:
        """Rewinds the run to before the operation `at` (default: its start); one inside a loop restarts the loop."""
        mirror = await self._stored()
        await self._request(Resume("rewind", at=at, state=state_before(mirror.history, at)))

    async def _request(self, request: AnyInput) -> None:
        """Sends a request to the run; raises its refusal."""
        if self._pass is not None and await self._pass.ask(request):
            return
        await asyncio.gather(self._task, return_exceptions=True)
        self._begin(request)
        assert self._pass is not None
        await self._pass.answered

    # -- queries -------------------------------------------------------------------------------------------------

    async def state(self) -> State:
        """The stored state."""
        found = await self._setup.driver.get(_STATE)
        return "pending" if found is None else values.decode(values.plain(found.decode()), State)

    async def output(self) -> Any:
        """The output of a completed run; otherwise None."""
        final = (await self._stored()).state.final
        return values.decode(final.output, self._setup.definition.returns) if isinstance(final, RunCompleted) else None

    async def history(self) -> list[OpState]:
        """The run's operations, in the order in which they were opened."""
        return (await self._stored()).entries()

    async def _stored(self) -> Mirror:
        mirror = Mirror(self._setup.run_id)
        mirror.load(await self._setup.driver.list(b""))
        return mirror


def run_workflow(
    workflow_id: str,
    fn: Workflow[..., Any] | Callable[..., Any],
    input: Any,
    driver: Driver,
    mode: Mode = "yield",
    *,
    clock: Clock | None = None,
) -> WorkflowHandle:
    """Runs a workflow on a key-value store of its own, without an engine; starts a pass at once. Call it again when an
    alarm rings or a message was sent. `input` counts for the first pass only; the run keeps it."""
    if mode not in get_args(Mode):
        raise bad_option(f"mode={mode!r} of run_workflow", "use yield or live")
    definition: Workflow[..., Any] = fn if is_workflow(fn) else workflow(fn)
    run_id = run_key("default", workflow_id, new=True)
    return WorkflowHandle(Setup(workflow_id, run_id, definition, input, driver, clock or SystemClock(), Ids()), mode)


def _result(mirror: Mirror, setup: Setup, one: Pass) -> PassResult:
    final = mirror.state.final if mirror.state.status != "running" else None
    match final:
        case None:
            due = min(mirror.timers().values(), default=None)
            state: State = "running" if one.evicted else "sleeping"
            return PassResult(state, sleep_until=due, waiting_for=mirror.waiting_for())
        case RunCompleted():
            return PassResult("completed", values.decode(final.output, setup.definition.returns))
        case RunCancelled():
            raise RunFailed(setup.workflow_id, "cancelled", cancelled(final))
        case _:
            raise _failed(setup, final.error)


def _failed(setup: Setup, error: ErrorInfo) -> RunFailed:
    failed = RunFailed(setup.workflow_id, "failed", error)
    failed.__cause__ = setup.bundle().failure(error)
    return failed
