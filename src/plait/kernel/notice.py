"""Notices: who is notified of an approval, and how. Their text is read when they are sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from .ids import TaskToken

NOTICE: Final = "notice"
"""The kind of task that sends one."""

Channel = Literal["mail", "webhook", "service"]
"""`service`: the address given by the approval itself."""


class Notice(msgspec.Struct, frozen=True, gc=False):
    channel: Channel
    to: str
    """A mail address or a URL."""
    approver: str = ""
    """Who is to decide; empty: anyone."""


class NoticeInput(msgspec.Struct, frozen=True, gc=False):
    """Input of the task that sends a notice."""

    approval: TaskToken
    notice: Notice


Notify = Callable[[Sequence[str], str], Sequence[Notice]]
"""Returns the notices for these approvers and, if given, the service at this address."""


def by_service(approvers: Sequence[str], service: str) -> list[Notice]:
    """The default: only the service that an approval names."""
    return [Notice("service", service, name) for name in approvers or ("",)] if service else []
