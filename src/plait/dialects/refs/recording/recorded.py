"""The contents of a recording as values: all that a draft is made from."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from plait.kernel.errors import ErrorInfo

Standing = Literal["waiting", "running", "completed", "failed"]


class RecordedStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One tool call, or a result that was set without a call."""

    name: str
    tool: str = ""
    """Empty for a preset that stands for no call."""
    input: Any = {}
    """The stored form: with references, and with escapes where text looks like one."""
    status: Standing = "completed"
    output: Any = None
    error: ErrorInfo | None = None
    read_only: bool = False
    """Whether its tool is annotated as read-only."""
    preset: bool = False
    stale: bool = False
    """Whether a value it was called with has been replaced since."""
    began: int = 0
    ended: int = 0
    """The numbers of the events that started and ended it; 0: not yet."""

    @property
    def succeeded(self) -> bool:
        return self.status == "completed"


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    input: dict[str, Any] = {}
    steps: tuple[RecordedStep, ...] = ()
    """Steps in order of arrival."""
    output: Any = msgspec.UNSET
    """The output given when the recording was stopped."""
    servers: tuple[str, ...] | None = None
    title: str = ""

    def last_success(self) -> RecordedStep | None:
        """The last call to succeed."""
        done = [step for step in self.steps if step.succeeded and step.tool]
        return max(done, key=lambda step: step.ended, default=None)
