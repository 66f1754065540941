"""One server process: listen, serve, and stop without losing anything.

Stopping happens in order: readiness fails, the listening socket closes, streams end, requests in progress finish
within a time limit and are the last on their connections, and then the engine closes, which releases its shards. A
second signal exits immediately.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from plait.kernel.errors import InvalidInput, Unavailable

from .connections import Connections, most_connections
from .http_protocol import HttpProtocol
from .site import Site

_BACKLOG = 2048
_CLOSING_TURNS = 5
"""Turns of the event loop after which every accepted connection is known."""
_LISTENERS = 32
"""The number of duplicates of the listening socket, including the original."""
_MAX_MESSAGE = 64 * 1024
"""Bytes of one WebSocket message."""
_PING = 54.0
"""Seconds between pings on a WebSocket, and seconds to wait for each pong."""
_ANY_ADDRESS = ("0.0.0.0", "::")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_EXIT_CODE = 130


def listen(host: str, port: int) -> socket.socket:
    """Binds the address now, so that an address that is not available is reported immediately."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise InvalidInput(
            "server.bad_host", f"{host!r} is not a valid address", why=str(error), fix="use --host"
        ) from None
    # With its protocol named, asyncio sends small answers at once (TCP_NODELAY)
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(address)
        found.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        found.close()
        raise _not_listening(host, port, error) from None
    found.setblocking(False)
    return found


def url_of(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def local_url(sock: socket.socket) -> str:
    """Returns the address for callers on this machine, whatever addresses the server listens on."""
    host, port = sock.getsockname()[:2]
    return f"http://127.0.0.1:{port}" if host in _ANY_ADDRESS else url_of(sock)


def _not_listening(host: str, port: int, error: Exception) -> Unavailable:
    taken = getattr(error, "errno", None) == errno.EADDRINUSE
    return Unavailable(
        "server.port_in_use" if taken else "server.cannot_listen",
        f"can't listen on {host}:{port}",
        why="the port is in use" if taken else str(error),
        fix="stop the other program, or choose another --port" if taken else "choose another --host or --port",
    )


class Server(uvicorn.Server):
    """Leaves signals alone: we handle them ourselves, see `Signals`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Process:
    def __init__(self, site: Site, app: ASGIApp, sock: socket.socket) -> None:
        self._site = site
        self._sock = sock
        self.url = url_of(sock)
        most = site.settings.max_connections
        room = Connections(most_connections() if most is None else most)
        self.config = config = uvicorn.Config(
            app,
            interface="asgi3",
            http=cast("Any", partial(HttpProtocol, site.settings, room, site.stopping)),
            ws="none" if site.settings.argyll == "off" else "websockets-sansio",
            ws_max_size=_MAX_MESSAGE,
            ws_ping_interval=_PING,
            ws_ping_timeout=_PING,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(site.settings.trusted_proxies),
            forwarded_allow_ips=site.settings.trusted_proxies,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=max(1, round(site.settings.drain_seconds)),
        )
        self._server = Server(config)
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns about every bad request

    @property
    def listening(self) -> bool:
        """Whether new connections are accepted."""
        return self._sock.fileno() != -1

    async def serve(self) -> None:
        """Serves until `stop` is called."""
        # uvloop accepts one connection per socket in each turn of its loop, and turns are long under load
        await self._server.serve(sockets=[self._sock, *(self._sock.dup() for _ in range(_LISTENERS - 1))])
        await self._abort_connections()

    async def _abort_connections(self) -> None:
        """Closes connections that were accepted while the socket was closing, and those that would not end."""
        for _ in range(_CLOSING_TURNS):
            await asyncio.sleep(0)
            for left in list(self._server.server_state.connections):
                left.transport.abort()

    def stop(self) -> None:
        """Lets requests in progress finish, within a time limit; `serve` then returns."""
        self._site.stopping.set()
        self._server.should_exit = True


class Signals:
    """SIGINT and SIGTERM: the first one stops the process gracefully, the second one immediately."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._received = False

    def __enter__(self) -> Signals:
        for each in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(each, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for each in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(each)

    def on_first(self, stop: Callable[[], None]) -> None:
        """Sets what the first signal does; does it now if that signal has already arrived."""
        self._stop = stop
        if self._received:
            stop()

    def _take(self) -> None:
        if self._received:
            os._exit(_EXIT_CODE)  # like `kill -9`: everything acknowledged is on disk
        self._received = True
        if self._stop is not None:
            self._stop()
