"""Tasks of the kind `notice`: notify people and programs of a waiting approval.

The approval is read when the notice is sent; if it was decided meanwhile, nothing is sent.
"""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any, assert_never

from plait.egress import Request
from plait.egress.errors import EgressError
from plait.kernel import values
from plait.kernel.approval import Approval
from plait.kernel.ids import RunId, TaskToken, caller_id
from plait.kernel.notice import NOTICE, Notice, NoticeInput
from plait.kernel.task import Attempt, Task, TaskError

from .http import Send
from .notice_settings import MailServer, NoticeSettings

FindApproval = Callable[[RunId, TaskToken], Awaitable[Approval | None]]
"""Returns the open approval of a token, if there is one."""
ApprovalLinks = Callable[[Approval, str], str]
"""Returns a link by which this approver may decide it; empty without a server."""

_PATIENCE = 30.0
_SENT, _CLOSED = "sent", "closed"


class NoticeExecutor:
    kinds = (NOTICE,)

    def __init__(self, settings: NoticeSettings, send: Send, find: FindApproval) -> None:
        self._server = settings.server
        self._send = send
        self._find = find
        self.links: ApprovalLinks = _no_link

    async def execute(self, task: Task, attempt: Attempt) -> Any:
        wanted: NoticeInput = task.input
        approval = await self._find(attempt.run_id, wanted.approval)
        if approval is None:
            return _CLOSED
        notice = wanted.notice
        match notice.channel:
            case "mail":
                await self._mail(notice, approval, attempt)
            case "webhook" | "service":
                await self._post(notice, approval, task)
            case _:
                assert_never(notice.channel)
        return _SENT

    async def _post(self, notice: Notice, approval: Approval, task: Task) -> None:
        request = Request(
            method="POST",
            url=notice.to,
            headers={"content-type": "application/json"},
            body=bytes(values.encode(self._told(notice, approval))),
            timeout=_PATIENCE,
            idempotency_key=task.key,
        )
        try:
            response = await self._send(request)
        except EgressError as error:
            raise TaskError(f"{notice.to} was not told: {error.what}", retryable=error.retryable) from error
        if not 200 <= response.status < 300:
            passing = response.status >= 500 or response.status in (408, 425, 429)
            raise TaskError(f"{notice.to} answered {response.status}", retryable=passing)

    def _told(self, notice: Notice, approval: Approval) -> dict[str, Any]:
        return {
            "approval_id": approval.id,
            "run_id": caller_id(approval.run_id),
            "namespace": approval.namespace,
            "title": approval.title,
            "approver": notice.approver,
            "deadline": approval.deadline,
            "callback_url": self.links(approval, notice.approver) or None,
        }

    async def _mail(self, notice: Notice, approval: Approval, attempt: Attempt) -> None:
        server = self._server
        if server is None:
            raise TaskError("no mail server is set up any more", retryable=False)
        message = _mail_of(notice, approval, server.sender, self.links(approval, notice.approver))
        try:
            await attempt.in_thread(lambda: _deliver(message, server))
        except smtplib.SMTPRecipientsRefused as error:
            code = max(code for code, _ in error.recipients.values())
            raise TaskError(f"the mail server refused {notice.to}: {code}", retryable=code < 500) from error
        except smtplib.SMTPResponseException as error:
            text = f"the mail server answered {error.smtp_code}"
            raise TaskError(text, retryable=error.smtp_code < 500) from error
        except (OSError, smtplib.SMTPException) as error:
            raise TaskError(f"the mail server {server.host}:{server.port}: {error}", retryable=True) from error


def _deliver(message: EmailMessage, server: MailServer) -> None:
    make = smtplib.SMTP_SSL if server.tls else smtplib.SMTP
    with make(server.host, server.port, timeout=_PATIENCE) as smtp:
        if server.starttls:
            smtp.starttls(context=ssl.create_default_context())
        if server.user:
            smtp.login(server.user, server.password)
        smtp.send_message(message)


def _mail_of(notice: Notice, approval: Approval, sender: str, link: str) -> EmailMessage:
    """The mail, without evidence: others than its receiver may read it."""
    title = " ".join(approval.title.split())
    message = EmailMessage()
    message["Subject"] = f"Approval: {title}"[:200]
    message["From"], message["To"] = sender, notice.to
    message["Auto-Submitted"] = "auto-generated"
    lines = [f"Run {caller_id(approval.run_id)} waits for your decision: {title}", ""]
    if approval.deadline is not None:
        lines.append(f"Decide before {datetime.fromtimestamp(approval.deadline / 1000, UTC):%Y-%m-%d %H:%M} UTC.")
    how = link or f"plait approve {approval.id}"
    message.set_content("\n".join([*lines, f"Decide here: {how}", ""]))
    return message


def _no_link(approval: Approval, approver: str) -> str:
    return ""
