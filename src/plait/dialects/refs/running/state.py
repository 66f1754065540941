"""What is known of a run: all that its events say, as one structure that a snapshot holds."""

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
"""Ends the token of the task that runs a step's `transformCode`."""


class RefsStart(msgspec.Struct, frozen=True, omit_defaults=True):
    """The dialect's part of `run.started`."""

    definition: Raw
    hash: str


class Work(msgspec.Struct, omit_defaults=True, gc=False):
    """A step, or one iteration of one. Mutable, as is all of the state: one is made for every step of every run."""

    status: Status = "waiting"
    input: Raw = ABSENT
    """As it was resolved when it was started."""
    unresolved: list[str] = []
    output: Raw = NULL
    raw: Raw = ABSENT
    """What a tool, function or workflow returned, before its transform."""
    error: ErrorInfo | None = None
    attempts: int = 0
    generation: int = 0
    """How often it was begun anew after an answer; part of its idempotency key."""
    started_at: Millis | None = None
    ended_at: Millis | None = None
    began: int = 0
    """The number of the event that started it."""
    preset: bool = False
    late: bool = False
    """Its result came after the run had ended."""
    stale: bool = False
    """What it read has changed since."""
    compensated: bool = False
    skipped_by: Raw = ABSENT
    """The condition that was not met."""
    seen: Raw = NULL
    """The value that the condition was judged on."""


class Loop(msgspec.Struct, omit_defaults=True, gc=False):
    """A step with `forEach` that has begun."""

    count: int
    works: dict[int, Work] = {}
    """Iterations that have begun, by index."""


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
    """Its steps may run: it waits for no start time any more."""
    error: ErrorInfo | None = None
    deadline: Millis | None = None
    steps: dict[str, Work] = {}
    loops: dict[str, Loop] = {}
    done: list[Done] = []
    """In order of completion."""
    seq: int = 0
    end_seq: int = 0
    """The number of the event that ended it; 0 while it runs."""
    patches: int = 0
    recorded: dict[str, RecordedCall] = {}
    """Of a recording, by step in order of arrival."""
    counters: dict[str, int] = {}
    """The last number that steps were named with, by base."""
    returns: Raw = ABSENT
    """The output of a recording, as it was given."""
    succeeded: str = ""
    """The step whose success is the last thing that happened: whether it bails out is to be tested."""


def work_id(step: str, index: int | None) -> str:
    return step if index is None else f"{step}[{index}]"


def split_id(id: str) -> tuple[str, int | None]:
    """A step, and which of its iterations."""
    name, bracket, rest = id.partition("[")
    index = rest.removesuffix("]")
    return (name, int(index)) if bracket and index.isascii() and index.isdigit() else (id, None)
