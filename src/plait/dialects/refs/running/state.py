"""The state of a run: all that its events say, as one structure that a snapshot stores."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw

from plait.dialects.refs.definition.source import Mode
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis, TaskToken
from plait.kernel.values import ABSENT, NULL

from .recorded_calls import RecordedCall

Status = Literal["waiting", "running", "completed", "skipped", "failed"]
RunStatus = Literal["running", "completed", "failed", "cancelled"]
How = Literal["", "all", "return", "bail", "stop"]

START = TaskToken("~start")
"""The timer of a delayed start."""
TRANSFORM = "~transform"
"""Suffix of the token of the task that runs a step's `transformCode`."""


class RefsStart(msgspec.Struct, frozen=True, omit_defaults=True):
    """The dialect's part of `run.started`."""

    definition: Raw
    hash: str


class Work(msgspec.Struct, omit_defaults=True, gc=False):
    """A step, or one iteration of one. Mutable, like all of the state: there is one for every step of every run."""

    status: Status = "waiting"
    input: Raw = ABSENT
    """The input, resolved when it was started."""
    unresolved: list[str] = []
    output: Raw = NULL
    raw: Raw = ABSENT
    """The result of a tool, function or workflow, before its transform."""
    error: ErrorInfo | None = None
    attempts: int = 0
    generation: int = 0
    """The number of times it was redone after an answer; part of its idempotency key."""
    started_at: Millis | None = None
    ended_at: Millis | None = None
    began: int = 0
    """The number of the event that started it."""
    preset: bool = False
    late: bool = False
    """Whether its result came after the run had ended."""
    stale: bool = False
    """Whether a value that it read has changed since."""
    compensated: bool = False
    skipped_by: Raw = ABSENT
    """The condition that was not met."""
    seen: Raw = NULL
    """The value that the condition tested."""


class Loop(msgspec.Struct, omit_defaults=True, gc=False):
    """A step with `forEach` that has started."""

    count: int
    works: dict[int, Work] = {}
    """Iterations that have started, by index."""


class Done(msgspec.Struct, frozen=True, gc=False):
    """A success that can be compensated."""

    step: str
    index: int | None
    generation: int
    output: Raw


class RefsState(msgspec.Struct, omit_defaults=True):
    definition: Raw
    input: Raw
    mode: Mode = "auto"
    status: RunStatus = "running"
    how: How = ""
    """What ended it, if it completed."""
    ended_by: str = ""
    """The step that returned or bailed."""
    begun: bool = False
    """Whether its steps may run: a delayed start is over."""
    error: ErrorInfo | None = None
    deadline: Millis | None = None
    steps: dict[str, Work] = {}
    loops: dict[str, Loop] = {}
    done: list[Done] = []
    """Successes in order of completion."""
    seq: int = 0
    end_seq: int = 0
    """The number of the event that ended it; 0 while it runs."""
    patches: int = 0
    recorded: dict[str, RecordedCall] = {}
    """Calls of a recording, by step in order of arrival."""
    counters: dict[str, int] = {}
    """The last number used in step names, by base."""
    returns: Raw = ABSENT
    """The output of a recording, as given."""
    succeeded: str = ""
    """The step whose success is the last event: whether it bails out is still to be tested."""


def work_id(step: str, index: int | None) -> str:
    return step if index is None else f"{step}[{index}]"


def split_id(id: str) -> tuple[str, int | None]:
    """Splits an id into step and iteration."""
    name, bracket, rest = id.partition("[")
    index = rest.removesuffix("]")
    return (name, int(index)) if bracket and index.isascii() and index.isdigit() else (id, None)
