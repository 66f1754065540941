"""What a recording holds, as values: all that a draft is made from."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from plait.kernel.errors import ErrorInfo

Standing = Literal["waiting", "running", "completed", "failed"]


class RecordedStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One tool call, or a result that was set without a call."""

    name: str
    tool: str = ""
    """Empty: a preset that stands for no call."""
    input: Any = {}
    """As it is stored: with references, and escaped where text looks like one."""
    status: Standing = "completed"
    output: Any = None
    error: ErrorInfo | None = None
    read_only: bool = False
    """Its tool is annotated so: calling it changes nothing."""
    preset: bool = False
    stale: bool = False
    """What it was called with has been replaced since."""
    began: int = 0
    ended: int = 0
    """Numbers in the order of what happened in the run; 0: not yet."""

    @property
    def succeeded(self) -> bool:
        return self.status == "completed"


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    input: dict[str, Any] = {}
    steps: tuple[RecordedStep, ...] = ()
    """By arrival."""
    output: Any = msgspec.UNSET
    """As it was given when the recording was stopped."""
    servers: tuple[str, ...] | None = None
    title: str = ""

    def last_success(self) -> RecordedStep | None:
        """The last to end, of those that are calls."""
        done = [step for step in self.steps if step.succeeded and step.tool]
        return max(done, key=lambda step: step.ended, default=None)
