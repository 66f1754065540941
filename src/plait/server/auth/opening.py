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


def refuse_open_mount(host: str) -> None:
    """Raises `auth.open_mount` if Argyll's clients, who send no keys, would be served on more than a loopback address
    without the operator having said so."""
    if not is_loopback(host):
        raise InvalidInput(
            "auth.open_mount",
            f"Argyll's clients send no key, and others than this machine reach {host or 'every address'}",
            why="whoever reaches it could change the catalog, start flows and read them",
            fix="listen on 127.0.0.1 behind a proxy that knows its callers, or say --argyll-open",
        )


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
