"""How approvals are announced beside the services that they name: by mail, by a webhook, or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from plait.kernel.errors import InvalidInput
from plait.kernel.notice import Notice, by_service

MAIL, WEBHOOK = "PLAIT_NOTICE_MAIL", "PLAIT_NOTICE_WEBHOOK"
_PORTS = {"smtp": 25, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    host: str
    port: int
    sender: str
    user: str = ""
    password: str = ""
    tls: bool = False
    """TLS from the first byte."""
    starttls: bool = False
    domain: str = ""
    """Mail domain of approvers whose names are not addresses; empty: they get no mail."""

    def address_of(self, approver: str) -> str:
        if "@" in approver:
            return approver
        return f"{approver}@{self.domain}" if approver and self.domain else ""


@dataclass(frozen=True, slots=True)
class NoticeSettings:
    """`mail` is `smtp://user:password@host:587?from=plait@example.com`, or `smtps://…`; with `&starttls=true`, and
    `&domain=example.com` for approvers whose names are no addresses. `webhook` is an address that gets every notice."""

    mail: str = ""
    webhook: str = ""

    @property
    def server(self) -> MailServer | None:
        return mail_server(self.mail) if self.mail else None

    def notices(self, approvers: Sequence[str], service: str) -> list[Notice]:
        """The notices of one approval: a service and a webhook get one for each approver, or one if anyone may
        decide."""
        found = by_service(approvers, service)
        if (server := self.server) is not None:
            addresses = [(name, server.address_of(name)) for name in approvers]
            found += [Notice("mail", address, name) for name, address in addresses if address]
        if self.webhook:
            found += [Notice("webhook", self.webhook, name) for name in approvers or ("",)]
        return found


def settings_from(environment: Mapping[str, str] = os.environ) -> NoticeSettings:
    found = NoticeSettings(environment.get(MAIL, ""), environment.get(WEBHOOK, ""))
    if found.mail:
        mail_server(found.mail)
    return found


def mail_server(url: str) -> MailServer:
    try:
        parts, options = urlsplit(url), dict(parse_qsl(urlsplit(url).query))
        port = parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        raise _bad_url() from None
    sender = options.pop("from", "")
    starttls, domain = options.pop("starttls", "false"), options.pop("domain", "")
    if not parts.hostname or "@" not in sender or options or starttls not in ("true", "false"):
        raise _bad_url()
    return MailServer(
        parts.hostname,
        port,
        sender,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        parts.scheme == "smtps",
        starttls == "true",
        domain,
    )


def _bad_url() -> InvalidInput:
    # Without the address: it may contain a password
    return InvalidInput(
        "notices.bad_mail_url",
        "the address of the mail server is not one that Plait understands",
        fix="use smtp://user:password@host:587?from=plait@example.com&starttls=true, or smtps://…; "
        "&domain=example.com makes addresses of names",
    )
