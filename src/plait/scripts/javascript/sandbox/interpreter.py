"""Handles requests: checks or calls a script, and reports the outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .console import Console
from .context import Contexts, Failed
from .heap import Heap
from .sources import Sources


class Interpreter:
    """Answers requests, each in a context of its own that is created before the request arrives."""

    def __init__(self, printed: Callable[[bytes], None]) -> None:
        self._write = printed
        self._sources = Sources()
        heap = Heap()
        heap.remember()
        self._contexts = Contexts(heap)
        self._context = self._contexts.new()

    def prepare(self) -> None:
        del self._context  # before the next one takes memory beside it
        self._context = self._contexts.new()

    def answer(self, request: dict[str, Any]) -> tuple[bytes, bytes]:
        try:
            return b"V", self._run(request)
        except Failed as error:
            problem = {"code": error.code, "message": error.message, "line": error.line, "fix": error.fix}
        except (MemoryError, RecursionError):
            problem = {"code": "code_memory", "message": "the script took more memory than it may"}
        return b"E", json.dumps(problem).encode()

    def _run(self, request: dict[str, Any]) -> bytes:
        context, op, most = self._context, request["op"], request["result"]
        console = Console(self._write, request["lines"], request["printed"])
        context.begin(request["memory"], request["stack"], console.print)
        self._sources.load(request["source"], context, only_look=op == "compile")
        if op == "compile":
            return b"true"
        result = context.call(request["input"], truth=op == "holds", most=most).encode()
        if len(result) > most:
            raise Failed("code_bad_output", f"The result has more than {most} bytes")
        return result
