"""The journal of an attempt: its results so far, in the run's own log.

A long attempt whose parts must not be done twice records each part as an entry. Its process may die at any time: the
same attempt is then started again with its journal, and continues after the last entry. A retry after a failure is
another attempt, with an empty journal.

An attempt may also be suspended until something that may take days: a decision of people, the end of another run, a
time. It uses no memory meanwhile. What it waited for becomes the next entry, and the same attempt is started again.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from .ids import Millis, RunId, TaskToken
from .values import ABSENT, NULL

SUSPENDED: Final = "~suspended:"
"""Prefix of the tokens that suspended attempts wait for."""


class Wait(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="for", gc=False):
    """Base of what a suspended attempt waits for."""


class ApprovalWait(Wait, frozen=True, tag="approval"):
    """Waits for an approval. The entry is `{"decision": "approve" | "reject" | "timeout", "by", "comment", "data"}`."""

    title: str
    approvers: tuple[str, ...] = ()
    required: int = 1
    evidence: Raw = ABSENT
    """The material that people decide on."""
    form: Raw = ABSENT
    due: Millis | None = None


class ChildWait(Wait, frozen=True, tag="child"):
    """Waits for a child run. The entry is `{"status", "run_id", "output", "error"}`. The child is cancelled and
    compensated with its parent."""

    definition: Any
    """A definition as in `StartChild`."""
    dialect: str = ""
    input: Raw = NULL


class TimeWait(Wait, frozen=True, tag="time"):
    """Waits for a time. The entry is `{"at"}`."""

    due: Millis


AnyWait = ApprovalWait | ChildWait | TimeWait


class Suspended(msgspec.Struct, frozen=True, gc=False):
    """Returned by an executor instead of a result."""

    wait: AnyWait
    says: str
    """The reason, for people: "model `fast` rate limited until 10:02"."""


class Journal(msgspec.Struct, omit_defaults=True, gc=False):
    """The journal of a task's current attempt."""

    token: TaskToken
    attempt: int = 1
    entries: list[Raw] = []
    says: str = ""
    """Its progress, or what it waits for, in a sentence."""
    wait: AnyWait | None = None

    def add(self, entry: Raw, says: str) -> None:
        self.entries.append(entry)
        self.wait = None
        self.says = says

    @property
    def wait_token(self) -> TaskToken:
        """The token of the approval, child or timer: a new one for each wait."""
        return TaskToken(f"{SUSPENDED}{self.token}:{len(self.entries)}")


def asker_of(token: TaskToken) -> TaskToken:
    """The task whose suspended attempt waits for this token; otherwise the token itself."""
    if not token.startswith(SUSPENDED):
        return token
    return TaskToken(token.removeprefix(SUSPENDED).rpartition(":")[0])


def child_of(run_id: RunId, wait_token: TaskToken) -> RunId:
    """The id of a child that an attempt waits for; a fork has its own children."""
    return RunId(f"{run_id}:{wait_token.removeprefix(SUSPENDED)}")
