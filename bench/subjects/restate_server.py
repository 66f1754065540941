"""The server that Restate keeps its journals in: started on loopback, with its files in one folder.

Ports are chosen once and kept beside the files, since a server that comes back after a crash is expected, by itself and
by the services registered with it, where it was. One partition measured best on a machine of few cores; the default of
two dozen keeps them busy with each other. At its start the server asks for its own latest release over the network, and
no setting stops that; so it takes part only when it is named.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = Path(sys.prefix) / "node_modules" / "@restatedev"


@dataclass(frozen=True)
class Ports:
    node: int
    admin: int
    ingress: int
    service: int
    """Where the server reaches the code under test."""

    @staticmethod
    def kept_in(folder: Path) -> Ports:
        kept = folder / "ports.json"
        if not kept.exists():
            kept.write_text(json.dumps(asdict(Ports(*_free_ports(4)))))
        return Ports(**json.loads(kept.read_text()))


def server_version() -> str:
    return json.loads((PACKAGES / "restate-server" / "package.json").read_text())["version"]


async def start_server(folder: Path, ports: Ports) -> int:
    """Start the server and return its process id; it is not ready yet."""
    (binary,) = PACKAGES.glob("restate-server-*/bin/restate-server")
    settings = {
        "RESTATE_BASE_DIR": str(folder / "server"),
        "RESTATE_LISTEN_MODE": "tcp",
        "RESTATE_BIND_IP": "127.0.0.1",
        "RESTATE_ADVERTISED_HOST": "127.0.0.1",
        "RESTATE_BIND_PORT": str(ports.node),
        "RESTATE_ADMIN__BIND_PORT": str(ports.admin),
        "RESTATE_INGRESS__BIND_PORT": str(ports.ingress),
        "RESTATE_DEFAULT_NUM_PARTITIONS": "1",
        "RESTATE_DISABLE_TELEMETRY": "true",
        "RESTATE_LOG_FILTER": "error",
        "DO_NOT_TRACK": "1",
    }
    process = await asyncio.create_subprocess_exec(
        str(binary),
        "--no-logo",
        "--node-name=bench",
        env={**os.environ, **settings},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    return process.pid


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
