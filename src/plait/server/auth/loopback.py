"""Loopback addresses: a server without authentication refuses to start on any other."""

from __future__ import annotations

import ipaddress

from plait.kernel.errors import InvalidInput


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on. A name other than `localhost` is not trusted:
    someone else decides what it resolves to."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_open_mount(host: str) -> None:
    """Raises `auth.open_mount` if Argyll's clients, which send no keys, would be served beyond a loopback address
    without the operator's consent."""
    if not is_loopback(host):
        raise InvalidInput(
            "auth.open_mount",
            f"Argyll's clients send no API key, and other machines can reach {host or 'every address'}",
            why="anyone who reaches it could change the catalog, start flows and read them",
            fix="listen on 127.0.0.1 behind a proxy that authenticates callers, or use --argyll-open",
        )


def refuse_open(host: str, *, open: bool) -> None:
    """Raises `auth.open_server` if a server without authentication would listen beyond a loopback address."""
    if open and not is_loopback(host):
        raise InvalidInput(
            "auth.open_server",
            f"a server without authentication must not listen on {host or 'every address'}",
            why="anyone who reaches it could run, change and read everything",
            fix="listen on 127.0.0.1, or start it with keys: "
            "`plait keys create NAME --role admin --namespace '*'` creates the first",
        )
