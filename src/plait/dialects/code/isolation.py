"""Steps in a process of their own, which is killed when the step is cancelled or times out.

A thread can't be stopped, and code that blocks the event loop stops everything. Isolation avoids both: each attempt
is a new interpreter that receives the recorded arguments and returns a result over a socket. The step is found by its
name, so it must be a @step at the top level of a module. The process leads a session, which is killed as a whole;
the kernel also kills the process when the engine's process dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import Any

from msgspec import Raw

from plait.clusters.call import call_of, heard, output_of, read_said
from plait.clusters.names import ClusterName
from plait.kernel import values
from plait.kernel.task import Attempt, TaskError

from .definition import Step

_START = "import sys; sys.path[:] = {path!r}; from plait.dialects.code.isolated import main; main({fd})"


async def call_isolated(step: Step[..., Any], arguments: Raw, attempt: Attempt, max_payload: int) -> Any:
    """Calls the step in a process that lives no longer than this call; cancelling the call kills it. Starting one takes
    milliseconds, and happens on this thread because the process dies with the thread that started it."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = _start(theirs.fileno())
        except BaseException:
            ours.close()
            raise
    reader, writer = await asyncio.open_connection(sock=ours, limit=4 * max_payload)
    try:
        writer.write(values.plain(call_of(attempt, step.ref, arguments, max_payload)) + b"\n")
        return await _result(step, reader, attempt, process)
    finally:
        writer.close()
        _kill(process)


async def call_on_cluster(step: Step[..., Any], on: ClusterName, arguments: Raw, attempt: Attempt) -> Any:
    """Calls the step in a process of a cluster."""
    return values.decode(await attempt.on_cluster(on, step.ref, arguments), step.returns)


def _start(fd: int) -> subprocess.Popen[bytes]:
    start = _START.format(path=[os.path.abspath(part) for part in sys.path], fd=fd)
    return subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.DEVNULL, pass_fds=[fd], start_new_session=True
    )


async def _result(
    step: Step[..., Any], reader: asyncio.StreamReader, attempt: Attempt, process: subprocess.Popen[bytes]
) -> Any:
    while line := await reader.readline():
        end = heard(read_said(line), attempt)
        if end is not None:
            return values.decode(output_of(end), step.returns)
    raise TaskError(f"the process of step `{step.name}` {_end(_kill(process))} without a result", retryable=True)


def _kill(process: subprocess.Popen[bytes]) -> int:
    """Kills and reaps the whole session: nothing that it started stays behind."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone already
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _end(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
