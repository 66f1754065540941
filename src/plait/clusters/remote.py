"""The remote side of a call: finds the function, calls it as its attempt, and reports the outcome."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Protocol, TypeGuard

from msgspec import Raw

from plait.kernel import values
from plait.kernel.failures import describe
from plait.kernel.ids import RunId, TaskToken
from plait.kernel.store import LineLevel
from plait.kernel.task import CALL, Attempt, Policy, Task, TaskError, current_attempt
from plait.kernel.values import NULL

from .call import Beat, Done, End, Failed, Line, LogRecord, RemoteCall, Said


class RemoteFunction(Protocol):
    """A dialect's function that may be called in another process."""

    def call_remote(self, arguments: Raw) -> Any:
        """Calls it with recorded arguments. The result may be awaitable."""
        ...

    def remote_output(self, result: Any) -> Any:
        """Converts the result for JSON; raises if it could not be read back."""
        ...


def perform(call: RemoteCall, say: Callable[[Said], None]) -> End:
    """Makes the call and returns its end; never raises. `say` may be called from any thread."""
    return copy_context().run(_perform, call, _Teller(say))


def _perform(call: RemoteCall, teller: _Teller) -> End:
    try:
        function = _find(call)
        current_attempt.set(_attempt(call, teller))
        result = function.call_remote(call.arguments)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        return Done(values.encode(function.remote_output(result), call.max_payload))
    except BaseException as error:
        return Failed(describe(error), getattr(error, "retryable", True) is not False, teller.progress)


async def _awaited(result: Any) -> Any:
    return await result


class _Teller:
    """The attempt's worker, as the function sees it; sends messages."""

    def __init__(self, say: Callable[[Said], None]) -> None:
        self._say = say
        self.progress = NULL

    def beat(self, attempt: Attempt, progress: Raw) -> None:
        self.progress = progress
        self._say(Beat(progress))

    def line(self, attempt: Attempt, level: LineLevel, text: str) -> None:
        self._say(Line(level, text))

    async def in_thread(self, attempt: Attempt, function: Any) -> Any:
        return await asyncio.to_thread(function)

    async def on_cluster(self, attempt: Attempt, on: str, ref: str, arguments: Raw) -> Raw:
        raise TaskError(f"a step in a process of its own can't go on to {on}", retryable=False)


class LogForwarder(logging.Handler):
    """Sends what the function logs to the engine. For a process that makes only one call."""

    def __init__(self, say: Callable[[Said], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say(LogRecord(record.name, record.levelno, self.format(record)))


def imported(ref: str) -> Any:
    """Returns the object named by `module:name`, or None."""
    module, _, qualname = ref.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


def _find(call: RemoteCall) -> RemoteFunction:
    found = imported(call.ref)
    if not _is_remote(found):
        raise TaskError(f"`{call.ref}` is no step in a process of its own", retryable=False)
    return found


def _is_remote(found: object) -> TypeGuard[RemoteFunction]:
    return callable(getattr(found, "call_remote", None))


def _attempt(call: RemoteCall, teller: _Teller) -> Attempt:
    task = Task(TaskToken(call.token), "", CALL, None, Policy(), call.key, call.node)
    attempt = Attempt(RunId(call.run_id), task, call.attempt, call.progress, _no_report, teller.line)
    attempt.worker = teller
    return attempt


def _no_report(run_id: RunId, result: object) -> None:
    raise AssertionError("a call in another process reports by what it returns")
