"""Small things that many tests of the dialect need."""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

import pytest

from plait.code import Workflow
from plait.errors import ErrorInfo, PlaitError, RunFailed
from plait.kernel.view import Reason, RunStatus, RunView
from plait.testing import History, Sim, SimRun, VirtualClock, sim


class Stage(Protocol):
    """What runs can be played on: an engine in `simulate`, none in `deciding`."""

    _definitions: list[object]

    @property
    def clock(self) -> VirtualClock: ...
    async def start(self, definition: Any, input: Any = None, *, id: str = "run") -> Any: ...
    async def run(self, definition: Any, input: Any = None) -> Any: ...
    async def result(self, run: Any) -> Any: ...
    async def settle(self) -> None: ...
    async def crash(self) -> None: ...


class StagedRun(Protocol):
    async def message(self, name: str, body: Any = None, id: str | None = None) -> object: ...
    async def history(self) -> History: ...
    async def view(self) -> RunView: ...
    async def waiting(self) -> list[Reason]: ...
    async def status(self) -> RunStatus: ...


class Ledger(list[Any]):
    """What steps did to the world, in order."""

    def does(self, entry: Any, result: Any = None) -> Callable[[], Any]:
        """A step that writes to the ledger."""

        async def write() -> Any:
            self.append(entry)
            return result

        return write

    def fails(self, entry: Any, error: BaseException) -> Callable[[], Any]:
        async def write() -> Any:
            self.append(entry)
            raise error

        return write

    def undoes(self, entry: Any) -> Callable[[Any], Any]:
        """A rollback handler that writes to the ledger; inline, as it is not a @step."""

        async def write(undo: Any) -> None:
            self.append(entry)

        return write


async def failure(s: Stage, run: StagedRun) -> ErrorInfo:
    """How a run failed."""
    with pytest.raises(RunFailed) as caught:
        await s.result(run)
    return caught.value.error


async def deploy(s: Stage, *definitions: object) -> None:
    """The process is killed, and starts again with other code."""
    s._definitions[:] = definitions
    await s.crash()
    await s.settle()


@contextlib.contextmanager
def refused(code: str, *parts: str) -> Iterator[None]:
    """The call raises an error with this code, and says this."""
    with pytest.raises(PlaitError) as caught:
        yield
    assert caught.value.code == code
    for part in parts:
        assert part in str(caught.value)


Script = Callable[[Sim, SimRun], Awaitable[object]]


async def log_of(definition: Workflow[..., Any], input: Any, script: Script | None, code_cache: int) -> History:
    """The whole log of one run, times included."""
    async with sim([definition], code_cache=code_cache) as s:
        run = await s.start(definition, input, id="run")
        if script is not None:
            await script(s, run)
        await s.skip_until(run.ended)
        return await run.history()


async def same_log(definition: Workflow[..., Any], input: Any = None, script: Script | None = None) -> History:
    """Runs it with and without a cache of parked runs: the logs must be equal to the last letter."""
    cached = await log_of(definition, input, script, 1000)
    uncached = await log_of(definition, input, script, 0)
    assert str(uncached) == str(cached)
    return cached
