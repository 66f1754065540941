"""A real web service, written with `http.server`, that answers as a test wants and notes what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A request as it came; names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Said:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Answer = Callable[[Asked], Said]


def said(value: Any, status: int = 200, kind: str = "application/json") -> Said:
    return Said(status, json.dumps(value).encode(), {"Content-Type": kind})


@dataclass
class Service:
    url: str
    asked: list[Asked] = field(default_factory=list[Asked])
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the service stops: an answer that never comes waits for this."""


@contextmanager
def service(answer: Answer) -> Iterator[Service]:
    """Serves on a free port of this machine, in threads of its own, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            found.asked.append(asked)
            given = answer(asked)
            self.send_response(given.status)
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            self.wfile.write(given.body)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that hung up is what some tests are about

    with Server(("127.0.0.1", 0), Handler) as server:
        found = Service(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            found.over.set()
            server.shutdown()
            thread.join()
