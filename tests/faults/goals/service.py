"""A step service as people write one, with nothing but `http.server`, in a process of its own.

How it behaves is part of the address that it is called at, so that it does the same after a restart:

    /work?gives=price&acts=500 drop answer          fails, hangs up, then answers {"price": ...}
    /work?gives=price&acts=accept,gate:late,callback,callback

There is an act for each call of a token; the last one is for all that follow. An act is a list of

    answer          200 with the outputs            accept      202: it will answer by webhook
    422             that status, as a problem       callback    calls the webhook with the outputs
    hang            no answer as long as it lives   recount     calls the webhook with another value
    drop            closes the connection           complain    calls the webhook with a problem
    gate:name       waits until the test opens this gate

What follows the answer is done after it. The value of the output is the sum of all numbers in the body, plus 1.
"""

from __future__ import annotations

import contextlib
import http.client
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from .ledger import Entry, Ledger, What, tokens

REFUSED = "the parcel is too heavy"
LISTENS = "listens"
_PAUSE = 0.01
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_PATIENCE = 30.0
"""Seconds for which it tries to reach a webhook, as any service does that has promised to answer."""


def worth(value: Any) -> int:
    """The sum of all numbers, plus 1."""
    return 1 + _sum(value)


def _sum(value: Any) -> int:
    match value:
        case bool() | str() | None:
            return 0
        case dict():
            return sum(map(_sum, value.values()))
        case list():
            return sum(map(_sum, value))
        case _:
            return value


class Memory:
    """How often each token was called for, also by those before us."""

    def __init__(self, ledger: Ledger, gates: Path) -> None:
        self.ledger = ledger
        self.gates = gates
        self._calls: dict[bool, Counter[str]] = {True: tokens(ledger.undone()), False: tokens(ledger.calls())}
        self._lock = Lock()

    def note(self, entry: Entry) -> int:
        """Which call of its token it is, from 0."""
        with self._lock:
            self.ledger.write(entry)
            number = self._calls[entry.undo][entry.token]
            self._calls[entry.undo][entry.token] += 1
            return number

    def pass_gate(self, name: str) -> None:
        while not (self.gates / name).exists():
            time.sleep(_PAUSE)


class Service(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 200

    def __init__(self, port: int, memory: Memory) -> None:
        self.memory = memory
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # an engine that was killed is no error of ours
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection: what outlives the answer to a call has to stay with the call."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Service  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        asked = urlsplit(self.path)
        wanted = {name: found[0] for name, found in parse_qs(asked.query).items()}
        size = int(self.headers["Content-Length"])
        body = self.rfile.read(size)
        if len(body) < size:
            raise ConnectionAbortedError("the engine was killed, or gave the call up")
        call = Call(self.headers, body, wanted.get("gives", ""), asked.path == "/undo", self.server.memory)
        acts = wanted["acts"].split()
        number = call.memory.note(call.entry("called"))
        self._act(call, acts[min(number, len(acts) - 1)].split(","))

    def _act(self, call: Call, parts: list[str]) -> None:
        for place, part in enumerate(parts):
            if not call.act(part):
                self._answer(call, part)
                Thread(target=call.act_all, args=(parts[place + 1 :],), daemon=True).start()
                return

    def _answer(self, call: Call, part: str) -> None:
        match part:
            case "drop":
                self.close_connection = True
            case "answer":
                self._send(call, 200, "application/json", call.outputs())
            case "accept":
                self._send(call, 202, "application/json", {})
            case _:
                self._send(call, int(part), "application/problem+json", {"title": "no", "detail": REFUSED})

    def _send(self, call: Call, status: int, kind: str, value: Any) -> None:
        body = msgspec.json.encode(value)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        call.memory.ledger.write(call.entry("answered", status))

    def log_message(self, format: str, *args: Any) -> None:
        pass


@dataclass(frozen=True)
class Call:
    """A call of a step, and what is done for it beside the answer."""

    headers: Message
    body: bytes
    gives: str
    undo: bool
    memory: Memory

    def act_all(self, parts: list[str]) -> None:
        for part in parts:
            assert self.act(part), f"{part} after the answer"

    def act(self, part: str) -> bool:
        """False for an answer: that is the connection's to give."""
        match part.partition(":"):
            case "callback", _, _:
                self._call_back("application/json", self.outputs())
            case "recount", _, _:
                self._call_back("application/json", {self.gives: -1})
            case "complain", _, _:
                self._call_back("application/problem+json", {"title": "refused", "detail": REFUSED})
            case "gate", _, name:
                self.memory.pass_gate(name)
            case "hang", _, _:
                Event().wait()
            case _:
                return False
        return True

    def outputs(self) -> dict[str, Any]:
        return {self.gives: worth(msgspec.json.decode(self.body))} if self.gives else {}

    def _call_back(self, kind: str, value: Any) -> None:
        """Until somebody listens there: a service that has promised to answer keeps trying."""
        url, data, headers = self.headers["Argyll-Webhook-URL"], msgspec.json.encode(value), {"Content-Type": kind}
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(urllib.error.URLError, OSError, http.client.HTTPException):
                status = _post(urllib.request.Request(url, data, headers, method="POST"))
                self.memory.ledger.write(self.entry("reported", status))
                if status < 500:
                    return
            time.sleep(_PAUSE)

    def entry(self, what: What, status: int = 0) -> Entry:
        return Entry(
            what,
            self.headers["Argyll-Step-ID"],
            self.headers["Argyll-Flow-ID"],
            self.headers["Argyll-Receipt-Token"],
            self.headers["Idempotency-Key"],
            msgspec.json.decode(self.body),
            status,
            self.undo,
        )


def _post(request: urllib.request.Request) -> int:
    try:
        with _direct.open(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code


def main(port: str, ledger: str, gates: str) -> None:
    with Service(int(port), Memory(Ledger(Path(ledger)), Path(gates))) as service:
        Thread(target=service.serve_forever, daemon=True).start()
        print(LISTENS, flush=True)
        sys.stdin.read()  # it closes when the test's process ends, however that does


if __name__ == "__main__":
    main(*sys.argv[1:])
