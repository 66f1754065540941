"""Handing a run over to engines that have its code: what is written, and what people read meanwhile."""

from __future__ import annotations

from . import values
from .clock import Clock
from .engine_code import EngineCode
from .ids import Millis
from .inputs import Loaded
from .run_cache import Elsewhere
from .store import InboxRow, RunPatch, RunRow, Write
from .view import Reason

NO_ENGINE = "engine"
"""The kind of the reason why a run waits for an engine that has its code."""


def no_engine(code: str) -> Reason:
    return Reason(NO_ENGINE, f"no engine here has `{code}`")


class Handover:
    def __init__(self, code: EngineCode, clock: Clock) -> None:
        self._code = code
        self._clock = clock

    def write(self, found: Elsewhere) -> Write:
        """The run moves to its pool; of one that is there already, the inputs that came here follow it."""
        row = found.row
        code = self._code.needed(row.dialect, row.definition, row.version)
        write = Write(row.id, found.shard, found.epoch, pool=code)
        if row.shard == found.shard and row.status == "running":
            assert code is not None
            write.patch = _waiting(row, code)
            # An owner of the pool loads what it finds in the inbox: it may have the shard already
            wake = values.plain(Loaded("wake"))
            now = Millis(self._clock.now())
            write.inbox = [InboxRow(row.id, row.shard, f"~moved-{found.shard}-{found.epoch}", wake, now)]
        return write


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
