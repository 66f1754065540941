"""The state of one operation: how it was opened, and its outcome. Part of a run's history."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, RunId
from plait.kernel.values import ABSENT

from .events import Kind, OpStatus
from .location import Location, earlier_place, parse
from .message_queue import QueuedMessage

INLINE = "inline"
"""Stands for a rollback handler without a name."""


class Branch(msgspec.Struct, omit_defaults=True):
    status: OpStatus = "open"
    output: Raw = ABSENT
    error: ErrorInfo | None = None


class OpState(msgspec.Struct, omit_defaults=True, gc=False):
    at: str
    kind: Kind
    opened_seq: int
    opened_at: Millis
    after: str | None = None
    args: Raw = ABSENT
    fn: str | None = None
    undo: str | None = None
    status: OpStatus = "open"
    order: int = 0
    """Its position among all closings; results are delivered in this order."""
    closed_seq: int = 0
    closed_at: Millis | None = None
    deadline: Millis | None = None
    names: list[str] | None = None
    limit: int | None = None
    branches: dict[str, Branch] | None = None
    state: Raw = ABSENT
    iteration: int = 0
    starts: dict[int, Raw] | None = None
    run_id: RunId | None = None
    given: bool = False
    keep: bool = False
    detached: bool = False
    definition: str | None = None
    value: int | None = None
    output: Raw = ABSENT
    error: ErrorInfo | None = None
    attempts: int = 1
    tried: int = 0
    """The number of attempts before the run was reopened."""
    received: list[QueuedMessage] | None = None
    winner: str | None = None
    queued: Millis = Millis(0)
    votes: int = 0
    key: str = ""
    """For an update: the id that its caller gave."""
    spare: bool = False
    """Whether the code may skip it: its result is kept, but only a failure that was retried had led to it."""

    @property
    def location(self) -> Location:
        return parse(self.at)


class Undoable(msgspec.Struct, frozen=True, omit_defaults=True):
    """A completed step with a rollback handler; outlives the step's own entry."""

    at: str
    handler: str
    order: int
    output: Raw = ABSENT
    args: Raw = ABSENT
    fn: str | None = None
    era: int = 0
    """The number of times the run had continued as new when the step completed."""


def place_in(era: int, record: Undoable) -> str:
    """The step's path in era `era` of the run: names are reused, so those of earlier eras get a prefix."""
    return record.at if record.era == era else earlier_place(record.at, record.era)
