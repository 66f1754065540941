"""Steps in a process of their own: what cancels them, or ends their time, kills them.

A thread can't be stopped, and code that blocks the event loop stops everything. A step that is isolated has neither
problem: each attempt is a new interpreter that gets the recorded arguments and gives back a result, over a socket. It
is found by its name, so it must be a @step at the top level of a module. The process is the leader of a session, which
is killed whole; the kernel kills it too when the engine's process dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import msgspec
from msgspec import Raw

from plait.kernel import values
from plait.kernel.errors import ErrorInfo
from plait.kernel.store import LineLevel
from plait.kernel.task import Attempt, TaskError

from .definition import Step
from .errors import to_exception

_START = "import sys; sys.path[:] = {path!r}; from plait.dialects.code.isolated import main; main({fd})"


class Request(msgspec.Struct, frozen=True):
    """What the process is to do."""

    ref: str
    arguments: Raw
    program: str
    """The file of the program, for steps that are in it."""
    run_id: str
    token: str
    node: str
    key: str
    attempt: int
    progress: Raw
    max_payload: int


class Said(msgspec.Struct, frozen=True, tag_field="kind", gc=False):
    """Base of what the process says."""


class Beat(Said, frozen=True, tag="beat"):
    progress: Raw


class Line(Said, frozen=True, tag="line"):
    """Of `step_log`."""

    level: LineLevel
    text: str


class LogRecord(Said, frozen=True, tag="log"):
    """Of `logging`."""

    logger: str
    level: int
    text: str


class Done(Said, frozen=True, tag="done"):
    output: Raw


class Failed(Said, frozen=True, tag="failed"):
    error: ErrorInfo
    retryable: bool


_said = msgspec.json.Decoder(Beat | Line | LogRecord | Done | Failed)


async def call_isolated(step: Step[..., Any], arguments: Raw, attempt: Attempt, max_payload: int) -> Any:
    """Calls the step in a process that lives as long as this does; whoever cancels it kills the process. To start one
    is a matter of milliseconds, and done here: it dies with the thread that started it."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = _start(theirs.fileno())
        except BaseException:
            ours.close()
            raise
    reader, writer = await asyncio.open_connection(sock=ours, limit=4 * max_payload)
    try:
        writer.write(values.plain(_request(step, arguments, attempt, max_payload)) + b"\n")
        return await _result(step, reader, attempt, process)
    finally:
        writer.close()
        _kill(process)


def _start(fd: int) -> subprocess.Popen[bytes]:
    start = _START.format(path=[os.path.abspath(part) for part in sys.path], fd=fd)
    return subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.DEVNULL, pass_fds=[fd], start_new_session=True
    )


def _request(step: Step[..., Any], arguments: Raw, attempt: Attempt, max_payload: int) -> Request:
    task, program = attempt.task, getattr(sys.modules.get("__main__"), "__file__", None)
    return Request(
        step.ref,
        arguments,
        os.path.abspath(program) if program and step.ref.startswith("__main__:") else "",
        attempt.run_id,
        task.token,
        task.node,
        task.key,
        attempt.number,
        attempt.progress,
        max_payload,
    )


async def _result(
    step: Step[..., Any], reader: asyncio.StreamReader, attempt: Attempt, process: subprocess.Popen[bytes]
) -> Any:
    while line := await reader.readline():
        said: Beat | Line | LogRecord | Done | Failed = _said.decode(line)
        match said:
            case Beat(progress):
                attempt.beat(progress)
            case Line(level, text):
                attempt.log(attempt, level, text)
            case LogRecord(logger, level, text):
                logging.getLogger(logger).log(level, "%s", text)
            case Done(output):
                return values.decode(output, step.returns)
            case Failed() as failed:
                raise _error(failed)
    raise TaskError(f"the process of step `{step.name}` {_end(_kill(process))} without a result", retryable=True)


def _error(failed: Failed) -> BaseException:
    """What the step raised, as the same class where that is loaded here."""
    error = to_exception(failed.error)
    if getattr(error, "retryable", True) is not failed.retryable:
        return TaskError(failed.error.message, retryable=failed.retryable, code=failed.error.code)
    return error


def _kill(process: subprocess.Popen[bytes]) -> int:
    """The whole session, and collects what is left: nothing that it started stays behind."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _end(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
