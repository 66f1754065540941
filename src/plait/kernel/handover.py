"""Handing a run over to engines that have its code: what is written, and what people read meanwhile.

What a run needs may be known before it is loaded; then it is written here that it moves. Or its machine finds out as it
decides; then the decision that would block it moves it instead, with all that it records.
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
"""The kind of the reason why a run waits for an engine that has its code."""


def no_engine(pool: str) -> Reason:
    names = " and ".join(f"`{name}`" for name in sorted(parts_of(pool)))
    return Reason(NO_ENGINE, f"no engine here has {names}")


def move_blocked(run: Run, unit: UnitOfWork) -> None:
    """A run that lacks functions goes to engines that have all it calls, where there may be any. From there it does not
    move again: what blocks it then is not where it is."""
    if run.code is not None and _move(run, unit):
        run.blocked = None


def move_lacking(run: Run, unit: UnitOfWork) -> None:
    """The same of a run that asks for a task whose function is not here: who has it begins the task."""
    machine, code = run.machine, run.code
    if code is None or not isinstance(machine, CallsCode):
        return
    called = [machine.called_code(opened.task) for opened in unit.tasks]
    if any(name is not None and not code.has(name) for name in called):
        _move(run, unit)


def _move(run: Run, unit: UnitOfWork) -> bool:
    """False if the run stays: it has moved before, or nobody could say where to."""
    machine = run.machine
    pool = pool_of(machine.needed_code()) if run.shard < SHARDS and isinstance(machine, NeedsCode) else None
    if pool is None:
        return False
    write, row = unit.write, unit.write.patch or run.patch()
    stopped = run.state.tasks.running > len(unit.tasks)  # work that is under way here is interrupted
    write.pool, write.plain = pool, False
    # Of one that is awake, a takeover of the pool's shard would think that its owner died
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
        """The run moves to its pool; of one that is there already, the inputs that came here follow it."""
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
    """An owner of the pool loads what it finds in the inbox: it may have the shard already."""
    return InboxRow(run_id, shard, f"~moved-{shard}-{epoch}", values.plain(Loaded("wake")), at)


def _waiting(row: RunRow, code: str) -> RunPatch:
    """That it was under way here says nothing against it: the recovery that its next owner counts is taken back."""
    return RunPatch(
        status="running",
        awake=row.awake,
        recoveries=max(0, row.recoveries - 1),
        full=row.full,
        waiting=no_engine(code),
        past=row.past,
    )
