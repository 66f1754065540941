"""The state of a run: all that its events say, as one structure that a snapshot stores."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from plait.dialects.afl.language.source_file import SourceFile
from plait.dialects.afl.names import RUNTIME_VERSION, STEP_SCHEMA_VERSION, WORKFLOW_VERSION
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.values import NULL

from .states import CREATED, ObjectType

RunStatus = Literal["running", "completed", "failed", "cancelled"]
EventState = Literal["event.Created", "event.Completed", "event.Error", "event.Withdrawn"]
HandlerKind = Literal["python", "http", "child", "queue", "remote", "prompt"]


class Binding(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who does the AFL events of a facet: fixed when a run starts, and recorded."""

    kind: HandlerKind = "remote"
    name: str = ""
    """The name of the function or the queue."""
    url: str = ""
    dialect: str = ""
    definition: Any = None
    """The definition of a child run."""
    queueing: dict[str, Any] = {}
    """The queue that a child waits on, if any: `queue`, `priority`, `partition`, `dedup_id`, `delay_ms`."""
    timeout: float | None = None
    """Seconds of one attempt."""
    max_attempts: int = 1
    first: float = 0.2
    """Seconds before the second attempt."""
    factor: float = 2.0
    compensate: str = ""
    """The facet that compensates it."""


class AflStart(msgspec.Struct, frozen=True, omit_defaults=True):
    """The dialect's part of `run.started`."""

    workflow: str
    hash: str
    """The hash of the compiled form."""
    compiled: Raw
    bindings: dict[str, Binding] = {}
    """Bindings by facet."""
    strict: bool = False
    workflow_version: str = WORKFLOW_VERSION
    step_schema_version: str = STEP_SCHEMA_VERSION
    runtime_version: str = RUNTIME_VERSION
    sources: tuple[SourceFile, ...] = ()
    """The source as written, for people to read; empty if it was sent compiled."""


class Element(msgspec.Struct, frozen=True, omit_defaults=True):
    """The element of a foreach that a sub-block is for."""

    var: str
    index: int
    value: Any = None


class Judged(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict on a case of a `when`."""

    index: int
    chosen: bool
    error: str = ""
    """Why its condition could not be evaluated: it counts as false."""


class StepRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """A step, as it is stored. Mutable, like all of the state, because one is made for every step of every run."""

    id: str
    object_type: ObjectType
    workflow_id: str = ""
    statement_id: str = ""
    statement_name: str = ""
    container_type: str = ""
    container_id: str = ""
    block_id: str = ""
    root_id: str = ""
    facet_name: str = ""
    state: str = CREATED
    params: dict[str, Any] = {}
    returns: dict[str, Any] = {}
    error: ErrorInfo | None = None
    element: Element | None = None
    cases: list[Judged] = []
    sys: list[str] = []
    """Blocks only: `sys` statements that are done."""
    caught: int = 0
    """The number of its catches that were entered."""
    failed_in: str = ""
    """The state in which it failed, while it is caught or once it has ended as an error."""
    generation: int = 0
    """The number of times it was reopened: part of the id of its AFL event."""
    dependencies: list[str] = []
    created_at: Millis = Millis(0)
    ended_at: Millis | None = None
    created_in: int = 0
    ended_in: int = 0
    """The iterations that created and ended it; 0 if none did."""
    workflow_version: str = WORKFLOW_VERSION
    step_schema_version: str = STEP_SCHEMA_VERSION
    runtime_version: str = RUNTIME_VERSION


class EventRecord(msgspec.Struct, omit_defaults=True, gc=False):
    """An AFL event: a request for outside work. Whether it is dispatched or processed is in the row of its task."""

    event_id: str
    event_type: str
    step_id: str
    workflow_id: str = ""
    payload: Raw = NULL
    state: EventState = "event.Created"
    attempt: int = 0
    result: Raw = NULL
    error: ErrorInfo | None = None
    created_at: Millis = Millis(0)
    ended_at: Millis | None = None
    opened: int = 0
    closed: int = 0
    """The numbers of the log events that opened and closed it, for forks."""
    workflow_version: str = WORKFLOW_VERSION
    step_schema_version: str = STEP_SCHEMA_VERSION
    runtime_version: str = RUNTIME_VERSION


class AflState(msgspec.Struct, omit_defaults=True):
    start: AflStart
    input: Raw
    status: RunStatus = "running"
    started: bool = False
    steps: dict[str, StepRecord] = {}
    """Steps in order of creation."""
    events: dict[str, EventRecord] = {}
    """AFL events in order of creation."""
    done: list[str] = []
    """Completed events, in order of completion: a rollback undoes the last first."""
    undone: list[str] = []
    iteration: int = 0
    again: bool = False
    """Whether another iteration is due."""
    pauses: int = 0
    paused: bool = False
    warnings: list[str] = []
    error: ErrorInfo | None = None
    deadline: Millis | None = None
    seq: int = 0
    end_seq: int = 0
    """The number of the event that ended it; 0 while it runs."""
    heard: list[str] = []
    """Ids of the last messages: a repeated delivery is ignored."""
    given: dict[str, Any] = {}
    """In a fork: results that are set for events that are open in it."""
    iterations_at: list[int] = []
    """The numbers of the events that closed each iteration, for forks."""
