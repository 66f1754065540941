"""Hands a run over to engines that have its code: what is written, and the wait reason shown meanwhile.

If the missing code is known before the run is loaded, the move is written here. Otherwise the machine finds out while
it decides; then the decision that would block the run moves it instead, with everything it records.
"""

from __future__ import annotations

from msgspec.structs import replace

from . import values
from .clock import Clock
from .engine_code import EngineCode
from .ids import SHARDS, Epoch, Millis, RunId, Shard
from .inputs import Loaded
from .machine import CallsCode, NeedsCode
from .pools import FOLLOW, parts_of, pool_of
from .run import Run
from .run_cache import Elsewhere
from .store import InboxRow, RunPatch, RunRow, Write
from .unit_of_work import UnitOfWork
from .view import Reason

NO_ENGINE = "engine"
"""The kind of the wait reason of a run without an engine that has its code."""


def no_engine(pool: str) -> Reason:
    names = " and ".join(f"`{name}`" for name in sorted(parts_of(pool)))
    return Reason(NO_ENGINE, f"no engine here has {names}")


def move_blocked(run: Run, unit: UnitOfWork) -> None:
    """Moves a run that lacks functions to engines that have everything it calls, if its pool is known. It does not move
    a second time: being blocked there is not a matter of place."""
    if run.code is not None and _move(run, unit):
        run.blocked = None


def move_lacking(run: Run, unit: UnitOfWork) -> None:
    """Moves a run that requests a task whose function is missing here: an engine that has it starts the task."""
    machine, code = run.machine, run.code
    if code is None or not isinstance(machine, CallsCode):
        return
    called = [machine.called_code(opened.task) for opened in unit.tasks]
    if any(name is not None and not code.has(name) for name in called):
        _move(run, unit)


def _move(run: Run, unit: UnitOfWork) -> bool:
    """False if the run stays: it has moved before, or its pool is unknown."""
    machine = run.machine
    pool = pool_of(machine.needed_code()) if run.shard < SHARDS and isinstance(machine, NeedsCode) else None
    if pool is None:
        return False
    write, row = unit.write, unit.write.patch or run.patch()
    stopped = run.state.tasks.running > len(unit.tasks)  # work in flight here is interrupted
    write.pool, write.plain = pool, False
    # If it were left awake, the takeover of the pool's shard would assume that its owner died
    write.patch = replace(
        row, awake=stopped, blocked=None, waiting=no_engine(pool), recoveries=row.recoveries + int(stopped)
    )
    unit.post(_wake(run.id, run.shard, run.epoch, unit.at))
    return True


class Handover:
    def __init__(self, code: EngineCode, clock: Clock) -> None:
        self._code = code
        self._clock = clock

    def write(self, found: Elsewhere) -> Write:
        """Moves the run to its pool; if it is there already, its inputs that arrived here follow."""
        row = found.row
        if row.shard != found.shard:
            return Write(row.id, found.shard, found.epoch, pool=FOLLOW)
        code = self._code.needed(row.dialect, row.definition, row.version)
        assert code is not None
        write = Write(row.id, found.shard, found.epoch, pool=code)
        if row.status == "running":
            write.patch = _waiting(row, code)
            write.inbox = [_wake(row.id, row.shard, found.epoch, Millis(self._clock.now()))]
        return write


def _wake(run_id: RunId, shard: Shard, epoch: Epoch, at: Millis) -> InboxRow:
    """An input that makes the pool's owner load the run: it may own the shard already."""
    return InboxRow(run_id, shard, f"~moved-{shard}-{epoch}", values.plain(Loaded("wake")), at)


def _waiting(row: RunRow, code: str) -> RunPatch:
    """Interrupting it here does not count against it: the recovery that its next owner counts is subtracted."""
    return RunPatch(
        status="running",
        awake=row.awake,
        recoveries=max(0, row.recoveries - 1),
        full=row.full,
        waiting=no_engine(code),
        past=row.past,
    )
