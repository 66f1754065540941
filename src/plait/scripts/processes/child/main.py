"""The main loop of a process: read a request, run it, answer, and prepare for the next request."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any, Protocol

from . import frames
from .cage import Cage


class Interpreter(Protocol):
    """The interpreter of one language. Created before the cage closes: it can read files only until then."""

    def __init__(self, printed: Callable[[bytes], None]) -> None: ...

    def answer(self, request: dict[str, Any]) -> tuple[bytes, bytes]:
        """The kind and the body of the answer frame. Must not raise."""
        ...

    def prepare(self) -> None:
        """Called between requests, when no caller waits."""
        ...


def main() -> None:
    found: type[Interpreter] = importlib.import_module("sandbox.interpreter").Interpreter
    interpreter = found(_print)
    cage = Cage()
    interpreter.prepare()
    frames.write(b"H")
    while (frame := frames.read()) is not None:
        request: dict[str, Any] = json.loads(frame)
        cage.begin(request["seconds"], request["memory"])
        kind, body = interpreter.answer(request)
        cage.end()
        frames.write(kind, body)
        interpreter.prepare()


def _print(line: bytes) -> None:
    frames.write(b"P", line)
