"""The process of one attempt at an isolated step: finds the step, calls it, says what came of it, and ends."""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import importlib.util
import inspect
import logging
import os
import signal
import socket
import sys
import threading
from typing import Any, NoReturn

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.failures import describe
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.store import LineLevel
from plait.kernel.task import CALL, Attempt, Policy, Task, TaskError, current_attempt

from .compensation import imported
from .definition import Step, is_step
from .isolation import Beat, Done, Failed, Line, LogRecord, Request, Said
from .steps import check_result

_PR_SET_PDEATHSIG = 1
_request = msgspec.json.Decoder(Request)


def main(fd: int) -> NoReturn:
    """`fd` is the socket to the engine."""
    _die_with_engine()
    with socket.socket(fileno=fd) as pipe:
        lines = pipe.makefile("rb")
        request = _request.decode(lines.readline())
        threading.Thread(target=_watch, args=(lines,), daemon=True).start()
        engine = _Engine(pipe)
        logging.basicConfig(level=logging.INFO, handlers=[_Forward(engine)])
        engine.say(_work(request, engine))
    logging.shutdown()
    os._exit(0)  # whatever threads the step has left


def _die_with_engine() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _watch(lines: Any) -> None:
    """Where the kernel does not do it: the engine has closed its end, so nobody wants the result."""
    lines.read()
    os.killpg(0, signal.SIGKILL)


class _Engine:
    """What this process tells the engine; from any thread."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe
        self._one_by_one = threading.Lock()

    def say(self, said: Said) -> None:
        with self._one_by_one:
            self._pipe.sendall(values.plain(said) + b"\n")

    def beat(self, attempt: Attempt, progress: Raw) -> None:
        self.say(Beat(progress))

    def line(self, attempt: Attempt, level: LineLevel, text: str) -> None:
        self.say(Line(level, text))

    async def in_thread(self, attempt: Attempt, function: Any) -> Any:
        return await asyncio.to_thread(function)


class _Forward(logging.Handler):
    """What the step gives to `logging` is said by the engine."""

    def __init__(self, engine: _Engine) -> None:
        super().__init__()
        self._engine = engine

    def emit(self, record: logging.LogRecord) -> None:
        self._engine.say(LogRecord(record.name, record.levelno, self.format(record)))


def _work(request: Request, engine: _Engine) -> Said:
    try:
        step = _find(request)
        current_attempt.set(_attempt(request, engine))
        arguments = step.arguments(request.arguments)
        result = step.fn(**arguments) if isinstance(arguments, dict) else step.fn(*arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        raw = values.encode(result, request.max_payload)
        check_result(step.name, step.returns, result, raw)
        return Done(raw)
    except BaseException as error:
        return Failed(describe(error), getattr(error, "retryable", True) is not False)


async def _awaited(result: Any) -> Any:
    return await result


def _find(request: Request) -> Step[..., Any]:
    if request.program:
        _load_program(request.program)
    found = imported(request.ref)
    if not is_step(found):
        raise TaskError(f"`{request.ref}` is no @step in a process of its own", retryable=False)
    return found


def _load_program(path: str) -> None:
    """The program's own file, under the name its steps know it by. What it does only when it is run is not done."""
    spec = importlib.util.spec_from_file_location("__plait_main__", path)
    if spec is None or spec.loader is None:
        raise TaskError(f"the program {path} can't be loaded in a process of its own", retryable=False)
    module = importlib.util.module_from_spec(spec)
    sys.modules["__main__"] = sys.modules["__plait_main__"] = module
    spec.loader.exec_module(module)


def _attempt(request: Request, engine: _Engine) -> Attempt:
    task = Task(TaskToken(request.token), "", CALL, None, Policy(), request.key, request.node)
    attempt = Attempt(RunId(request.run_id), task, request.attempt, request.progress, _no_report, engine.line)
    attempt.worker = engine
    return attempt


def _no_report(run_id: RunId, result: object) -> None:
    raise AssertionError("an isolated step reports by its socket")
