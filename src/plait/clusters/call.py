"""The messages between an engine and the process that runs an attempt for it, as lines of JSON: one call there, and
messages back."""

from __future__ import annotations

import logging
import os
import sys
from typing import assert_never

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo
from plait.kernel.failures import rebuild
from plait.kernel.store import LineLevel
from plait.kernel.task import Attempt, TaskError
from plait.kernel.values import NULL


class RemoteCall(msgspec.Struct, frozen=True):
    """The call that the process should make."""

    ref: str
    """The function, as `module:name`."""
    arguments: Raw
    program: str
    """The file of the main program, for functions defined in it."""
    run_id: str
    token: str
    node: str
    key: str
    attempt: int
    progress: Raw
    max_payload: int


class Said(msgspec.Struct, frozen=True, tag_field="kind", gc=False):
    """Base of the messages from the process."""


class Beat(Said, frozen=True, tag="beat"):
    progress: Raw


class Line(Said, frozen=True, tag="line"):
    """A line of `step_log`."""

    level: LineLevel
    text: str


class LogRecord(Said, frozen=True, tag="log"):
    """A record of `logging`."""

    logger: str
    level: int
    text: str


class Done(Said, frozen=True, tag="done"):
    output: Raw


class Failed(Said, frozen=True, tag="failed"):
    error: ErrorInfo
    retryable: bool
    progress: Raw = NULL
    """The last reported progress, whose own message may have come too late."""


AnySaid = Beat | Line | LogRecord | Done | Failed
End = Done | Failed

read_said = msgspec.json.Decoder[AnySaid](AnySaid).decode
read_call = msgspec.json.Decoder(RemoteCall).decode


def call_of(attempt: Attempt, ref: str, arguments: Raw, max_payload: int) -> RemoteCall:
    task, program = attempt.task, getattr(sys.modules.get("__main__"), "__file__", None)
    return RemoteCall(
        ref,
        arguments,
        os.path.abspath(program) if program and ref.startswith("__main__:") else "",
        attempt.run_id,
        task.token,
        task.node,
        task.key,
        attempt.number,
        attempt.progress,
        max_payload,
    )


def heard(said: AnySaid, attempt: Attempt) -> End | None:
    """Applies a message of another process to its attempt; returns the end, if it is one."""
    match said:
        case Beat(progress):
            attempt.beat(progress)
        case Line(level, text):
            attempt.log(attempt, level, text)
        case LogRecord(logger, level, text):
            logging.getLogger(logger).log(level, "%s", text)
        case Failed(progress=progress):
            if bytes(progress) != bytes(NULL):
                attempt.beat(progress)
            return said
        case Done():
            return said
        case _:
            assert_never(said)
    return None


def output_of(end: End) -> Raw:
    """Returns what the function returned, or raises what it raised, as the same class if that is loaded here."""
    match end:
        case Done(output):
            return output
        case Failed(info, retryable):
            error = rebuild(info)
            if error is None or getattr(error, "retryable", True) is not retryable:
                error = TaskError(_named(info), retryable=retryable, code=info.code)
            raise error
        case _:
            assert_never(end)


def _named(info: ErrorInfo) -> str:
    """Returns the error's text after the name of its type."""
    name = info.type.rpartition(":")[2]
    return f"{name}: {info.message}" if name and name != "TaskError" else info.message
