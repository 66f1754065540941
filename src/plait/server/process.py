"""One server process: listen, serve, and stop without losing anything.

To stop: readiness says no, the listening socket closes, streams end, requests under way finish within a bound,
and only then is the engine closed, which gives up its shards. A second signal quits at once.
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

from .site import Site
from .wire import Wire

_BACKLOG = 2048
_SHUT = 5
"""Turns of the event loop after which no accepted connection is on its way any more."""
_DOORS = 32
"""Handles on the listening socket."""
_MESSAGE = 64 * 1024
"""Bytes that a client may send through a socket at once."""
_PING = 54.0
"""Seconds between signs of life on a socket, and for the answer to one."""
_EVERYWHERE = ("0.0.0.0", "::")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AT_ONCE = 130


def listen(host: str, port: int) -> socket.socket:
    """Takes the address now, so that whoever starts the server is told at once when it can't be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise InvalidInput("server.bad_host", f"{host!r} is no address", why=str(error), fix="use --host") from None
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
    """Under which this machine reaches it, whatever addresses it listens on."""
    host, port = sock.getsockname()[:2]
    return f"http://127.0.0.1:{port}" if host in _EVERYWHERE else url_of(sock)


def _not_listening(host: str, port: int, error: Exception) -> Unavailable:
    taken = getattr(error, "errno", None) == errno.EADDRINUSE
    return Unavailable(
        "server.port_in_use" if taken else "server.cannot_listen",
        f"can't listen on {host}:{port}",
        why="another program does" if taken else str(error),
        fix="stop it, or choose another --port" if taken else "choose another --host or --port",
    )


class Server(uvicorn.Server):
    """Signals are ours: uvicorn would take them away from the engine's process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class Process:
    def __init__(self, site: Site, app: ASGIApp, sock: socket.socket) -> None:
        self._site = site
        self._sock = sock
        self.url = url_of(sock)
        self.config = config = uvicorn.Config(
            app,
            http=cast("Any", partial(Wire, site.settings)),
            ws="none" if site.settings.argyll == "off" else "websockets-sansio",
            ws_max_size=_MESSAGE,
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
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns of every bad request

    @property
    def listening(self) -> bool:
        """False as soon as nobody new is let in."""
        return self._sock.fileno() != -1

    async def serve(self) -> None:
        """Until `stop` is called."""
        # uvloop accepts one connection a socket in each turn of its loop, and turns are long under load
        await self._server.serve(sockets=[self._sock, *(self._sock.dup() for _ in range(_DOORS - 1))])
        await self._hang_up()

    async def _hang_up(self) -> None:
        """Closes connections that slipped in while the door was being shut, and those that would not end."""
        for _ in range(_SHUT):
            await asyncio.sleep(0)
            for left in list(self._server.server_state.connections):
                left.transport.abort()

    def stop(self) -> None:
        """Lets what is under way finish, within a bound; `serve` then returns."""
        self._site.stopping.set()
        self._server.should_exit = True


class Signals:
    """SIGINT and SIGTERM, for the life of the process: the first one stops it properly, the second one at once."""

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._came = False

    def __enter__(self) -> Signals:
        for each in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(each, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for each in _SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(each)

    def on_first(self, stop: Callable[[], None]) -> None:
        """What the first one does; done now if it has come already."""
        self._stop = stop
        if self._came:
            stop()

    def _take(self) -> None:
        if self._came:
            os._exit(_AT_ONCE)  # as `kill -9` would: what was acknowledged is on disk
        self._came = True
        if self._stop is not None:
            self._stop()
