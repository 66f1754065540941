"""Runs: start, list and show them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from plait.kernel.agent_totals import AgentTotals
from plait.kernel.cause import Cause
from plait.kernel.errors import ErrorInfo
from plait.kernel.ids import Millis
from plait.kernel.view import Phase, Reason, RunStatus, RunView

from .shape import (
    Body,
    Count,
    DialectName,
    Label,
    Name,
    NamespaceName,
    Position,
    RunIdText,
    Scoped,
    Shape,
    Text,
)

Action = Literal["cancel", "retry", "resume", "fork", "message", "compensate", "rewind", "edit_agents", "edit_outputs"]
"""What can be done with a run. `edit_agents`: a fork accepts edits of agents' prompts and models. `edit_outputs`: a
fork accepts edits of nodes' outputs."""

_STATUS = "(running|waiting|working|blocked|completed|failed|cancelled)"
QueueKey = Annotated[str, Meta(min_length=1, max_length=400)]
MAX_DEADLINE_MS = 100 * 366 * 86_400_000


class Run(Shape, frozen=True, kw_only=True):
    """One execution of a definition. Times are milliseconds since 1970, UTC."""

    id: str
    namespace: str
    dialect: str
    definition: str
    version: str | None = None
    status: RunStatus
    blocked: ErrorInfo | None = None
    """If set, the run can't continue until someone acts, although its status is `running`."""
    labels: dict[str, str] = {}
    parent: str | None = None
    """The run that started it."""
    parent_node: str | None = None
    """The node of the parent that started it."""
    created_at: Millis
    ended_at: Millis | None = None
    deadline: Millis | None = None
    error: ErrorInfo | None = None
    phase: Phase = "running"
    waiting: Reason | None = None
    """What it waits for, in a few words, if its phase is `waiting`."""
    cause: Cause | None = None
    """The root cause of its failure: the sentence to show first."""
    forked_from: str | None = None
    forked_at: int | None = None
    """The last event that it shares with the run it was forked from."""
    reopened: int = 0
    """How often it was reopened after it had ended."""
    idle_ms: int = 0
    """Milliseconds that it spent ended before it was reopened; not part of its duration."""
    partial: bool = False
    """Whether it completed although some of its steps failed."""
    agents: AgentTotals | None = None
    """The agents' usage; left out if no agent worked in it. For a run in progress: as of its last pause."""
    erased_at: Millis | None = None
    """When its values were erased; they can't be read any more."""


class RunDetail(Shape, frozen=True, kw_only=True):
    run: Run
    input: Any
    output: Any = None
    view: RunView
    waiting: list[Reason]
    """The reasons why the run is not moving, in sentences."""
    seq: int
    """The number of its last event."""
    at: int | None = None
    """The event number it is shown at, if one was requested."""
    actions: list[Action]
    """What the caller can do with the run now."""


class RunRef(Shape, frozen=True, kw_only=True):
    """A run by id, and its status."""

    id: str
    namespace: str
    status: RunStatus


class RunPage(Shape, frozen=True, kw_only=True):
    runs: list[Run]
    next: str | None = None
    """The cursor of the next page, if there is one."""


class RunChanges(Shape, frozen=True, kw_only=True):
    """A frame of the live list: first the whole page (`snapshot`), then what changed (`changes`)."""

    runs: list[Run]
    gone: list[str] | None = None
    """The ids of runs that are no longer on the page."""


class StartRun(Body, frozen=True, kw_only=True):
    """What to start. The same id, definition and input again return the same run."""

    definition: Name | dict[str, Any] | None = None
    """`name`, `name@version` or `name@tag`; or the definition itself, if its dialect has a JSON form."""
    dialect: DialectName | None = None
    """The server's default dialect if left out."""
    input: Any = None
    tag: Name | None = None
    """`name@tag`, instead of `definition`; then `inputs` is the input."""
    inputs: Any = None
    id: RunIdText | None = None
    """The run's id; generated if left out."""
    namespace: NamespaceName | None = None
    deadline_ms: Annotated[int, Meta(ge=1, le=MAX_DEADLINE_MS)] | None = None
    """Milliseconds from now after which the run fails."""
    labels: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=200)], Text], Meta(max_length=64)] = (
        msgspec.field(default_factory=dict[str, str])
    )
    subject: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """The subject whose values the run holds, such as `customer:42`, kept as the label `subject`. Erasing the subject
    destroys the key of its values."""
    queue: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """The queue on which the run waits until a slot is free."""
    priority: Annotated[int, Meta(ge=-(2**31) + 1, le=2**31 - 1)] = 0
    """The order on queues: lower first, then arrival; also for the run's tasks."""
    partition: QueueKey | None = None
    """The key that a partitioned queue counts by; also for the run's tasks on queues."""
    dedup_id: QueueKey | None = None
    """While a run of the queue that has this id waits or runs, a start with the same id returns that run."""
    reject: bool = False
    """Whether to refuse a duplicate with 409 instead."""
    delay_ms: Annotated[int, Meta(ge=0, le=MAX_DEADLINE_MS)] | None = None
    """Milliseconds before the run may start."""
    debounce_ms: Annotated[int, Meta(ge=1, le=MAX_DEADLINE_MS)] | None = None
    """Milliseconds to wait before the run starts. A start with the same `dedup_id` meanwhile replaces its input and
    restarts the wait."""


class ListRuns(Scoped, frozen=True, kw_only=True):
    q: Text | None = None
    status: Annotated[str, Meta(pattern=rf"^{_STATUS}(,{_STATUS})*\Z")] | None = None
    """One or more statuses, separated by commas. `running` means every run that has not ended, whether it is
    `working`, `waiting` or `blocked`. A child that failed with its parent is listed under `failed` only if `parent`
    is given too."""
    dialect: Text | None = None
    definition: Text | None = None
    label: list[Label] = msgspec.field(default_factory=list[str])
    parent: RunIdText | None = None
    since: Count | None = None
    until: Count | None = None
    stalled: bool = False
    """Whether to list only runs that nothing will move; other filters are then ignored."""
    cursor: Text | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class ShowRun(Scoped, frozen=True, kw_only=True):
    at: Position | None = None
