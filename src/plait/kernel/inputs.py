"""What makes a machine decide. Inputs that come from outside the owner travel through the inbox as JSON."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from .errors import ErrorInfo
from .ids import Millis, RunId, TaskToken
from .values import ABSENT, NULL


class Input(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", gc=False):
    """Base of all inputs."""


class Start(Input, frozen=True, tag="start"):
    dialect: str
    definition: str
    input: Raw = NULL
    version: str | None = None
    seed: int = 0
    deadline: Millis | None = None
    labels: dict[str, str] = {}
    data: Any = None


class TaskResult(Input, frozen=True, tag="task_result"):
    """How an attempt ended. The machine sees only final results; attempts are the kernel's."""

    token: TaskToken
    attempt: int
    output: Raw = ABSENT
    error: ErrorInfo | None = None
    retryable: bool = True
    progress: Raw = NULL
    attempts: int = 1
    queued: Millis = Millis(0)
    """How long the attempt waited for a worker."""
    later: bool = False
    """The work was accepted; its result will come as a message."""


class TimerFired(Input, frozen=True, tag="timer_fired"):
    token: TaskToken


class RetryDue(Input, frozen=True, tag="retry_due"):
    """Another attempt of a task may begin. Only machines that pace their tasks are asked; others begin at once."""

    token: TaskToken


class Message(Input, frozen=True, tag="message"):
    id: str
    name: str
    body: Raw = NULL
    sent_at: Millis = Millis(0)


class ChildFinished(Input, frozen=True, tag="child_finished"):
    token: TaskToken
    run_id: RunId
    status: Literal["completed", "failed", "cancelled", "refused"]
    output: Raw = NULL
    error: ErrorInfo | None = None


class Decided(Input, frozen=True, tag="decided"):
    """A person's answer to `AskHuman`."""

    token: TaskToken
    decision: str
    by: str = ""
    comment: str = ""
    data: Raw = NULL


class Cancel(Input, frozen=True, tag="cancel"):
    reason: str = ""
    compensate: bool = False
    cause: Literal["cancel", "deadline", "limit"] = "cancel"
    error: ErrorInfo | None = None
    parent: RunId | None = None
    """Who cancels its child: a run that is another's is not meant."""


class Patch(Input, frozen=True, tag="patch"):
    operations: list[dict[str, Any]]


class Resume(Input, frozen=True, tag="resume"):
    """Go on: `retry` what failed or is blocked, `rewind` to an earlier place, `settle` a dead letter,
    `compensate` an ended run, `continue` after a decision that said `more`; after it was read into memory, to `wake`
    for an input, or to `recover` what another process had under way."""

    mode: Literal["retry", "rewind", "settle", "compensate", "continue", "wake", "recover"]
    at: str | None = None
    token: TaskToken | None = None
    verdict: Literal["retry", "discard"] | None = None
    state: Raw = ABSENT


AnyInput = Start | TaskResult | TimerFired | Message | ChildFinished | Decided | Cancel | Patch | Resume
