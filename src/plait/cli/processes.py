"""`plait serve --processes`: several engines behind one port."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import typer

from plait.kernel.errors import InvalidInput
from plait.server.supervisor import Link, Supervisor

from .output import note

_POSTGRES = ("postgresql://", "postgres://")


def refuse_several(db: str) -> None:
    """Refuses SQLite, where a file has one engine at a time."""
    if not db.lower().startswith(_POSTGRES):
        raise InvalidInput(
            "cli.one_process",
            "--processes needs PostgreSQL",
            why=f"one engine at a time works on {db.partition(':')[0]}",
            fix="use --db postgresql://user@host/db, or leave --processes out",
        )
    if not hasattr(os, "fork"):
        raise InvalidInput("cli.one_process", "--processes needs Linux or macOS", fix="start plait serve several times")


def supervised(count: int, sock: socket.socket, announce: Callable[[list[int]], None]) -> Link:
    """Returns in each of the processes. The current one stays to supervise them, and exits when all have ended."""
    supervisor = Supervisor(count, sock.close, announce)
    ended = supervisor.run()
    if isinstance(ended, Link):
        return ended
    if supervisor.announced:
        note("stopped")
    raise typer.Exit(ended)
