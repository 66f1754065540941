"""Sends one message to one pinned address and reads the head of the answer; maps every failure to our errors."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpcore

from .connections import Connection
from .errors import AnswerTooLarge, BadRequest, ConnectFailed, EgressError, ProtocolError, TimedOut, TlsFailed
from .headers import on_the_wire
from .redirects import Hop


class Unreached(Exception):
    """The connection failed, so nothing was sent, and another address may be tried."""

    def __init__(self, error: EgressError) -> None:
        super().__init__(error)
        self.error = error


@asynccontextmanager
async def exchange(
    connection: Connection, hop: Hop, connect_timeout: float, first_byte_timeout: float | None
) -> AsyncGenerator[httpcore.Response]:
    """Yields the answer's status and headers. Read the body inside the block; an unread rest is dropped after it."""
    response = await _begin(connection, hop, connect_timeout, first_byte_timeout)
    try:
        with _named(hop):
            yield response
    finally:
        await response.aclose()


async def _begin(
    connection: Connection, hop: Hop, connect_timeout: float, first_byte_timeout: float | None
) -> httpcore.Response:
    connected = False
    try:
        async with asyncio.timeout(connect_timeout) as limit:

            async def watch(event: str, _: dict[str, Any]) -> None:
                nonlocal connected
                if event == "http11.send_request_headers.started":
                    connected = True
                    now = asyncio.get_running_loop().time()
                    limit.reschedule(None if first_byte_timeout is None else now + first_byte_timeout)

            with _named(hop):
                return await connection.handle_async_request(_request(hop, watch))
    except TimeoutError:
        if not connected:
            why = f"no connection within {connect_timeout:g} s"
            raise Unreached(TimedOut(f"{hop.target.origin} did not answer in time", why=why)) from None
        why = f"no answer began within {first_byte_timeout:g} s"
        raise TimedOut(f"{hop.target.origin} did not answer in time", why=why) from None
    except (ConnectFailed, TlsFailed) as error:
        raise Unreached(error) from None


def _request(hop: Hop, watch: Any) -> httpcore.Request:
    target = hop.target
    return httpcore.Request(
        hop.method,
        httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path),
        headers=on_the_wire(target, hop.method, hop.headers, hop.body),
        content=hop.body,
        extensions={"trace": watch},
    )


@contextmanager
def _named(hop: Hop) -> Generator[None]:
    origin = hop.target.origin
    try:
        yield
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        cause = error.args[0] if error.args else error
        if isinstance(cause, ssl.SSLError):
            raise TlsFailed(f"no secure connection to {origin}", why=_reason(cause), fix=_TRUST) from None
        reason = cause.__cause__ or cause  # anyio combines the errors of all tries
        raise ConnectFailed(f"no connection to {origin}", why=str(reason) or type(reason).__name__) from None
    except httpcore.LocalProtocolError as error:
        raise BadRequest(f"the request to {origin} can't be sent", why=str(error)) from None
    except httpcore.RemoteProtocolError as error:
        # h11 hints at the status a server would send: 431 is endless headers
        if error.args and getattr(error.args[0], "error_status_hint", 0) == 431:
            raise AnswerTooLarge(f"{origin} answers with headers that are too large") from None
        raise ProtocolError(f"{origin} does not answer as HTTP says", why=str(error)) from None
    except (httpcore.NetworkError, httpcore.TimeoutException) as error:
        raise ProtocolError(
            f"the connection to {origin} broke", why=str(error) or "it was closed by the other side"
        ) from None


_TRUST = "check the certificate of the other side; trust a private authority with ca_file in the egress settings"


def _reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return error.reason or str(error)
