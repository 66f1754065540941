"""One run as a page shows it, in the kernel's types; both an engine's handle and a client's run return it."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel.store import RunRow
from plait.kernel.view import Reason, RunView

from .diff import Change, NodeChange
from .run import Action


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    row: RunRow
    """The row as it is now, even if the rest shows an earlier moment."""
    input: Any
    output: Any
    view: RunView
    waiting: list[Reason]
    seq: int
    """The number of the run's last event."""
    at: int | None = None
    actions: list[Action]


class RunDiff(msgspec.Struct, frozen=True):
    a: RunRow
    b: RunRow
    input: list[Change]
    output: list[Change]
    nodes: list[NodeChange]
