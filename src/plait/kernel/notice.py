"""Notices: who is told of an approval, and how. What they say is read when they are sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from .ids import TaskToken

NOTICE: Final = "notice"
"""The kind of task that sends one."""

Channel = Literal["mail", "webhook", "service"]
"""service: the address that the approval itself names."""


class Notice(msgspec.Struct, frozen=True, gc=False):
    channel: Channel
    to: str
    """A mail address, or a URL."""
    approver: str = ""
    """Who is to decide; empty: anyone."""


class NoticeInput(msgspec.Struct, frozen=True, gc=False):
    """What the task takes."""

    approval: TaskToken
    notice: Notice


Notify = Callable[[Sequence[str], str], Sequence[Notice]]
"""The notices for these approvers and the service at this address, if there is one."""


def by_service(approvers: Sequence[str], service: str) -> list[Notice]:
    """Where nothing else is set up: only the service that an approval names."""
    return [Notice("service", service, name) for name in approvers or ("",)] if service else []
