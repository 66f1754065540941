"""The journal of an attempt: what it found out so far, in the run's own log.

An attempt that is long, and whose parts must not be done twice, keeps each part as an entry. Its process may die at
any time: the same attempt is begun again with its journal, and goes on behind the last entry. A retry after a failure
is another attempt, and begins with an empty one.

An attempt may also be suspended until something comes that may take days: a decision of people, the end of another
run, a time. It then costs no memory. What came is the next entry, with which the same attempt is begun again.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from .ids import Millis, RunId, TaskToken
from .values import ABSENT, NULL

SUSPENDED: Final = "~suspended:"
"""How the tokens begin of what suspended attempts wait for."""


class Wait(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="for", gc=False):
    """What a suspended attempt waits for."""


class ApprovalWait(Wait, frozen=True, tag="approval"):
    """The entry is `{"decision": "approve" | "reject" | "timeout", "by", "comment", "data"}`."""

    title: str
    approvers: tuple[str, ...] = ()
    required: int = 1
    evidence: Raw = ABSENT
    """What people decide on."""
    form: Raw = ABSENT
    due: Millis | None = None


class ChildWait(Wait, frozen=True, tag="child"):
    """The entry is `{"status", "run_id", "output", "error"}`. The child is cancelled and compensated with its
    parent."""

    definition: Any
    """As of `StartChild`."""
    dialect: str = ""
    input: Raw = NULL


class TimeWait(Wait, frozen=True, tag="time"):
    """The entry is `{"at"}`."""

    due: Millis


AnyWait = ApprovalWait | ChildWait | TimeWait


class Suspended(msgspec.Struct, frozen=True, gc=False):
    """Returned by an executor in place of a result."""

    wait: AnyWait
    says: str
    """Why, for people: "model `fast` rate limited until 10:02"."""


class Journal(msgspec.Struct, omit_defaults=True, gc=False):
    """Of the attempt that a task is in."""

    token: TaskToken
    attempt: int = 1
    entries: list[Raw] = []
    says: str = ""
    """How far it got, or what it waits for, in a sentence."""
    wait: AnyWait | None = None

    def add(self, entry: Raw, says: str) -> None:
        self.entries.append(entry)
        self.wait = None
        self.says = says

    @property
    def wait_token(self) -> TaskToken:
        """Of the approval, the child or the timer: another one for each time that it waits."""
        return TaskToken(f"{SUSPENDED}{self.token}:{len(self.entries)}")


def asker_of(token: TaskToken) -> TaskToken:
    """The task whose suspended attempt waits for what has that token; else the token itself."""
    if not token.startswith(SUSPENDED):
        return token
    return TaskToken(token.removeprefix(SUSPENDED).rpartition(":")[0])


def child_of(run_id: RunId, wait_token: TaskToken) -> RunId:
    """A fork has children of its own."""
    return RunId(f"{run_id}:{wait_token.removeprefix(SUSPENDED)}")
