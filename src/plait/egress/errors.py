"""Errors of requests that workflows send.

    EgressError             502  base of all of these
    ├── BadUrl              422  the URL can't be used, or is spelled to mislead
    ├── BadRequest          422  a method, header or body that can't be sent
    ├── BlockedHost         403  the operator's lists close this host or port
    ├── BlockedAddress      403  the host has an address that is closed
    ├── BadRedirect         502  from https to http
    ├── TooManyRedirects    502  more than the operator allows
    ├── AnswerTooLarge      502  headers or body over the limit, also after decompression
    ├── DnsFailed           502  the name has no address, or the lookup failed
    ├── ConnectFailed       502  no connection to any of its addresses
    ├── TlsFailed           502  the certificate or the handshake is invalid
    ├── TimedOut            504  connecting, the first byte or the whole took too long
    └── ProtocolError       502  the connection broke, or the answer is not HTTP (or not JSON)

`retryable` tells whether another attempt may end differently; the kernel's retries read it. Messages name only the
origin: paths and queries may contain secrets.
"""

from __future__ import annotations

from typing import ClassVar

from plait.kernel.errors import PlaitError


class EgressError(PlaitError):
    """An outgoing request did not get an answer."""

    status = 502
    retryable: ClassVar[bool] = True
    named: ClassVar[str] = "egress.failed"

    def __init__(self, what: str, *, why: str = "", fix: str = "") -> None:
        super().__init__(self.named, what, why=why, fix=fix)


class BadUrl(EgressError):
    """The URL can't be used, or its spelling is misleading."""

    status = 422
    retryable = False
    named = "egress.bad_url"


class BadRequest(EgressError):
    """The request can't be sent as it is: its method, a header or its body."""

    status = 422
    retryable = False
    named = "egress.bad_request"


class BlockedHost(EgressError):
    """The operator's lists close this host or port."""

    status = 403
    retryable = False
    named = "egress.blocked_host"


class BlockedAddress(EgressError):
    """The host has an address that is closed: private, loopback, reserved, or denied by the operator."""

    status = 403
    retryable = False
    named = "egress.blocked_address"


class BadRedirect(EgressError):
    """The answer redirects from https to http."""

    retryable = False
    named = "egress.bad_redirect"


class TooManyRedirects(EgressError):
    """There are more redirects than the operator allows."""

    retryable = False
    named = "egress.too_many_redirects"


class AnswerTooLarge(EgressError):
    """The answer's headers or body are over the limit, as sent or after decompression."""

    retryable = False
    named = "egress.too_large"


class DnsFailed(EgressError):
    """The host name has no address, or its lookup failed."""

    named = "egress.dns_failed"


class ConnectFailed(EgressError):
    """No connection to any of the host's addresses; nothing was sent."""

    named = "egress.connect_failed"


class TlsFailed(EgressError):
    """The certificate or the TLS handshake is invalid; nothing was sent."""

    named = "egress.tls_failed"


class TimedOut(EgressError):
    """Connecting, the first byte or the whole answer took too long."""

    status = 504
    named = "egress.timeout"


class ProtocolError(EgressError):
    """The connection broke, or the answer is not HTTP."""

    named = "egress.protocol_error"
