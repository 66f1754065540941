"""A step server with nothing but the standard library, as somebody might write one who has no SDK."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.server.serving import soon

Json = dict[str, Any]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StepHttpServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or "{}")
        call = {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "body": body}
        self.server.calls.append(call)
        answer = getattr(self, f"_{self.path.strip('/').partition('/')[0]}")
        answer(body)

    do_GET = do_POST

    def _sync(self, body: Json) -> None:
        self._say(200, {"ticked": True, **body})

    def _refuse(self, body: Json) -> None:
        self._say(422, {"detail": "not today"}, "application/problem+json")

    def _flaky(self, body: Json) -> None:
        """Works at the third attempt."""
        tries = sum(call["path"] == self.path for call in self.server.calls)
        self._say(200 if tries > 2 else 503, {"ticked": tries})

    def _silent(self, body: Json) -> None:
        """Takes the work, and never answers."""
        self._say(202, {})

    def _async(self, body: Json) -> None:
        self._say(202, {"ignored": True})
        self._report({"done": body.get("x", "yes")})

    def _early(self, body: Json) -> None:
        """Reports before it has taken the work."""
        self._report({"done": "early"}).result()
        self._say(200, {})

    def _twice(self, body: Json) -> None:
        self._say(202, {})
        self._report({"done": 1}).result()
        self._report({"done": 1}).result()
        self._report({"done": 2})

    def _problem(self, body: Json) -> None:
        self._say(202, {})
        self._report({"title": "Unprocessable", "status": 422, "detail": "no stock"}, "application/problem+json")

    def _report(self, body: Json, content_type: str = "application/json") -> Any:
        url = self.headers["argyll-webhook-url"]
        return self.server.pool.submit(self.server.report, url, body, content_type)

    def _say(self, status: int, body: Json, content_type: str = "application/json") -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class StepHttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[Json] = []
        self.reports: list[tuple[int, bytes]] = []
        self.pool = ThreadPoolExecutor(4)

    def report(self, url: str, body: Json, content_type: str) -> None:
        """As it is, with all of its query."""
        request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": content_type}, method="POST")
        with urllib.request.urlopen(request, timeout=20) as answer:
            self.reports.append((answer.status, answer.read()))


class StepServer:
    """`async with StepServer() as there:` calls of it are in `there.calls`."""

    timeout: ClassVar[float] = 10

    async def __aenter__(self) -> StepServer:
        self._server = StepHttpServer()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._server.shutdown)
        await asyncio.to_thread(self._server.pool.shutdown)
        self._server.server_close()
        self._thread.join(self.timeout)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def calls(self) -> list[Json]:
        return self._server.calls

    async def reported(self, count: int) -> list[tuple[int, bytes]]:
        """The answers to reports, once there are so many: a flow may end before its report is answered."""

        async def all_there() -> bool:
            return len(self._server.reports) >= count

        await soon(all_there)
        return self._server.reports
