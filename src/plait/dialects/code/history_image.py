"""A whole history as data: what a snapshot holds."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.view import RunStatus

from .events import RunBlocked
from .message_queue import QueuedMessage
from .op_state import OpState, Undoable


class HistoryImage(msgspec.Struct, omit_defaults=True):
    """A whole history in the form in which a snapshot stores it."""

    seq: int
    input: Raw
    seed: int
    started_at: Millis
    ops: list[OpState]
    undoables: list[Undoable]
    queue: list[QueuedMessage]
    seen: list[str]
    orders: int
    hash: str = ""
    generation: int = 0
    blocked: RunBlocked | None = None
    causes: list[str] = []
    ended: RunStatus | None = None
    end_seq: int = 0
    recoveries: int = 0
    rolled_back: bool = False
    rollback_error: ErrorInfo | None = None
    arrivals: int = 0
    ended_at: Millis | None = None
    trimmed: bool = False
    updates: dict[str, int] = {}
    published: dict[str, dict[str, int]] = {}
    latest: dict[str, Raw] = {}
    era: int = 0
    begun_seq: int = 1
    created_at: Millis = Millis(0)
