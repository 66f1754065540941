"""One run as a page shows it, in the kernel's own types: what an engine's handle and a client's run both return."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel.store import RunRow
from plait.kernel.view import Reason, RunView

from .diff import Change, NodeChange
from .run import Action


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    row: RunRow
    """As it is now, whatever moment the rest shows."""
    input: Any
    output: Any
    view: RunView
    waiting: list[Reason]
    seq: int
    """The number of the last event there is."""
    at: int | None = None
    actions: list[Action]


class RunDiff(msgspec.Struct, frozen=True):
    a: RunRow
    b: RunRow
    input: list[Change]
    output: list[Change]
    nodes: list[NodeChange]
