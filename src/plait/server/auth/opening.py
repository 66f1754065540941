"""Refuses to start a server that lets everybody in where others than this machine can reach it."""

from __future__ import annotations

import ipaddress

from plait.kernel.errors import InvalidInput


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on. A name other than `localhost` is not trusted:
    what it means is decided elsewhere."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_open(host: str, *, open: bool) -> None:
    """Raises `auth.open_server` if a server without keys would listen on more than a loopback address."""
    if open and not is_loopback(host):
        raise InvalidInput(
            "auth.open_server",
            f"a server that asks nobody for a key must not listen on {host or 'every address'}",
            why="whoever reaches it could run, change and read everything",
            fix="listen on 127.0.0.1, or start it with keys: "
            "`plait keys create NAME --role admin --namespace '*'` makes the first",
        )
