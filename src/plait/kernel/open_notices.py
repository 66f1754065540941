"""Notices of open approvals, folded from a run's events."""

from __future__ import annotations

import msgspec

from .events import ApprovalNotified, NoticeEnded
from .ids import TaskToken
from .notice import Notice


class OpenNotices(msgspec.Struct):
    """The notices of one approval."""

    all: dict[TaskToken, Notice] = {}
    """All notices by the tokens of their tasks."""
    pending: dict[TaskToken, None] = {}
    """Notices not known to be sent, in order."""
    service: str = ""

    def add(self, event: ApprovalNotified) -> None:
        for notice in event.notices:
            token = TaskToken(f"~notice:{event.token}:{len(self.all) + 1}")
            self.all[token], self.pending[token] = notice, None
        self.service = event.service

    def end(self, event: NoticeEnded) -> None:
        if event.status == "retried":
            self.pending[event.notice] = None
        else:
            self.pending.pop(event.notice, None)
