"""Resolves names to addresses: once per request, in threads of our own so that a slow lookup delays nobody else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from .errors import DnsFailed
from .url import Address, Target

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Takes a host name and a port, returns addresses of both families, best first; raises OSError if there are none."""

_THREADS = 8


class SystemResolver:
    """Uses the system's resolver, like every program on this machine."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="plait-dns")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        found = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host, port)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


async def resolve(resolver: Resolver, target: Target) -> list[Address]:
    """Returns all addresses of a target; a host that is an address needs no lookup."""
    if target.literal is not None:
        return [target.literal]
    try:
        found = [ip_address(text) for text in await resolver(target.host, target.port)]
    except (OSError, UnicodeError, ValueError) as error:
        raise DnsFailed(f"{target.host} could not be resolved", why=str(error), fix=_FIX) from error
    if not found:
        raise DnsFailed(f"{target.host} could not be resolved", why="it has no address", fix=_FIX)
    return found


_FIX = "check the name, and that this machine can ask a name server"


def _look_up(host: str, port: int) -> Sequence[tuple[object, object, object, object, tuple[object, ...]]]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
