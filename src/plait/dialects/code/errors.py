"""Errors of the `code` dialect, and how they are stored and raised again.

PlaitError
├── WorkflowCodeError      the workflow's code did something that can't be replayed; raised at the call
└── RunBlocked
    └── HistoryDivergedError   the code no longer fits the run's history; the run is blocked, not lost
StepError                  a step failed for good, and its own exception class is not available
├── StepExhaustedError     all attempts failed; `last_error` is the last one
├── ChildFailedError       a child run failed or was cancelled
├── RunExistsError         the id of a child run belongs to another run
└── MessageBodyError       a message's body does not fit the type asked for
CriticalError              raised by a step: do not retry
└── StepTimeoutError       a step took longer than its timeout
JoinError, RaceError       exception groups of the branches that failed
ContinueAsNew              a control signal, like the next ones: the workflow restarts with another input
EvictedError, RollbackError   derived from BaseException, so that `except Exception` lets them pass
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import msgspec
from msgspec import Raw

from plait.kernel.errors import ErrorInfo, PlaitError, RunBlocked
from plait.kernel.failures import cause_within, describe, notes_of, rebuild, with_notes

from .message import Message
from .path_words import path_words


class WorkflowCodeError(PlaitError):
    """The workflow's code must be changed; retrying can't help."""

    status = 422
    retryable: ClassVar[bool] = False

    def __init__(self, code: str, what: str, fix: str = "", why: str = "") -> None:
        super().__init__(f"CODE_{code}", what, why=why, fix=fix)


def foreign_await(why: str) -> WorkflowCodeError:
    return WorkflowCodeError(
        "FOREIGN_AWAIT",
        "the workflow awaited something that is not of its own loop",
        why=why,
        fix='put it in `ctx.step("name", fn)`',
    )


class HistoryDivergedError(RunBlocked):
    """The run is blocked until code that fits its history is loaded. Nothing is lost."""


class StepError(Exception):
    """A step failed for good."""


def exhausted(step: str, attempts: int, why: str) -> str:
    after = f" after {attempts:,} attempts" if attempts > 1 else ""
    return f"step `{step}` failed{after}: {why}"


class StepExhaustedError(StepError):
    """Every attempt of a step failed."""

    def __init__(self, step: str, attempts: int, last_error: BaseException) -> None:
        super().__init__(exhausted(step, attempts, str(last_error)))
        self.step = step
        self.attempts = attempts
        self.last_error = last_error


class ChildFailedError(StepError):
    """A child run did not complete."""

    def __init__(self, run_id: str, status: str, error: ErrorInfo) -> None:
        super().__init__(f"child run `{run_id}` {status}: {error.message}")
        self.run_id = run_id
        self.status = status
        self.error = error


class RunExistsError(StepError):
    """The id asked for belongs to another run."""


class MessageBodyError(StepError):
    """A body does not fit the requested type. The messages are consumed; `received` has them with undecoded bodies."""

    def __init__(self, text: str, received: Sequence[Message[Any]] = ()) -> None:
        super().__init__(text)
        self.received = list(received)


class CriticalError(Exception):
    """Raise it in a step when trying again can't help."""

    retryable: ClassVar[bool] = False


class StepTimeoutError(CriticalError):
    """A step took too long."""


class RollbackError(BaseException):
    """Raise it, in a step or in the workflow, to undo what was done and fail the run."""

    retryable: ClassVar[bool] = False


class ContinueAsNew(BaseException):
    """Restarts the workflow with another input; raised by `ctx.continue_as_new`."""

    def __init__(self, input: Raw) -> None:
        super().__init__("the workflow continues as new")
        self.input = input


def only_continues(error: BaseException) -> ContinueAsNew | None:
    """What tells the run to begin anew, also as a `TaskGroup` hands it on: in a group, with nothing else in it."""
    if isinstance(error, BaseExceptionGroup):
        found, rest = cast("BaseExceptionGroup[BaseException]", error).split(ContinueAsNew)
        return only_continues(found.exceptions[0]) if found is not None and rest is None else None
    return error if isinstance(error, ContinueAsNew) else None


class EvictedError(BaseException):
    """The run was evicted from memory while this code was suspended; it continues elsewhere."""


def branches_text(kind: str, name: str, errors: Mapping[str, object]) -> str:
    return f"{kind} `{name}`: " + "; ".join(f"`{branch}`: {error}" for branch, error in errors.items())


class _BranchErrors(ExceptionGroup[Exception]):
    errors: Mapping[str, BaseException]

    def __new__(cls, name: str, errors: Mapping[str, BaseException]) -> _BranchErrors:
        parts = [e if isinstance(e, Exception) else StepError(repr(e)) for e in errors.values()]
        self = super().__new__(cls, branches_text(cls._kind, name, errors), parts)
        self.errors = dict(errors)
        self.name = name
        return self

    def __init__(self, name: str, errors: Mapping[str, BaseException]) -> None:
        super().__init__(self.message, self.exceptions)

    _kind: ClassVar[str] = "join"
    name: str


class JoinError(_BranchErrors):
    """At least one branch of a join failed; `errors` maps branches to their errors."""


class RaceError(_BranchErrors):
    """Every branch of a race failed; `errors` maps branches to their errors."""

    _kind = "race"


def mark(error: BaseException, at: str) -> BaseException:
    """Records on an exception which operation raised it."""
    error.__dict__["_plait_ops"] = {*error.__dict__.get("_plait_ops", ()), at}
    return error


def ops_of(error: BaseException) -> set[str]:
    """The operations whose failure caused an exception, found through its causes and groups."""
    found, seen = set[str](), set[int]()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue  # an exception that is raised from another has it as its cause and as its context
        seen.add(id(each))
        found.update(each.__dict__.get("_plait_ops", ()))
        left += (each.__cause__, each.__context__)
        if isinstance(each, BaseExceptionGroup):
            left += cast("BaseExceptionGroup[BaseException]", each).exceptions
    return found


def to_info(error: BaseException, depth: int = 0) -> ErrorInfo:
    """An exception of a workflow, a branch or a step, as data. `depth` counts the causes and groups around it."""
    info = _to_info(error, depth)
    own: set[str] = error.__dict__.get("_plait_ops", set())
    ops = [*sorted(own, key=_innermost_first), *sorted(ops_of(error) - own, key=_innermost_first)]
    return msgspec.structs.replace(info, ops=ops, label=path_words(ops[0])) if ops else info


def _innermost_first(at: str) -> tuple[int, str]:
    """Innermost operations first: a loop that fails because of its step is marked too."""
    return -at.count("/"), at


def _to_info(error: BaseException, depth: int) -> ErrorInfo:
    match error:
        case RollbackError():
            info = ErrorInfo("rollback", str(error) or "rolled back", kind="rollback")
        case StepExhaustedError():
            attrs = {"step": error.step, "attempts": error.attempts}
            last = to_info(error.last_error, depth)
            return ErrorInfo(
                "step.exhausted", str(error), kind="exhausted", attrs=attrs, cause=last, notes=notes_of(error)
            )
        case ChildFailedError():
            attrs = {"run_id": error.run_id, "status": error.status}
            return ErrorInfo(
                "child.failed", str(error), kind="child", attrs=attrs, cause=error.error, notes=notes_of(error)
            )
        case JoinError() | RaceError():
            kind = "join" if isinstance(error, JoinError) else "race"
            parts = {name: to_info(part, depth) for name, part in error.errors.items()}
            info = ErrorInfo(f"{kind}.failed", error.message, kind=kind, attrs={"name": error.name}, parts=parts)
        case _:
            return describe(error, depth=depth, within=to_info)
    return msgspec.structs.replace(info, cause=cause_within(error, depth, to_info), notes=notes_of(error))


def to_exception(info: ErrorInfo) -> BaseException:
    """The exception to raise for stored data: the same on the first run and on every replay."""
    error = _to_exception(info)
    for at in info.ops:
        mark(error, at)
    return error


def _to_exception(info: ErrorInfo) -> BaseException:
    attrs: dict[str, Any] = info.attrs
    match info.kind:
        case "exhausted":
            last = to_exception(info.cause) if info.cause else StepError(info.message)
            return with_notes(StepExhaustedError(attrs["step"], attrs["attempts"], last), info, last)
        case "child":  # its cause is of another run, whose operations are not those of this one
            return with_notes(ChildFailedError(attrs["run_id"], attrs["status"], info.cause or info), info)
        case "join" | "race":
            cls = JoinError if info.kind == "join" else RaceError
            error = cls(attrs["name"], {name: to_exception(part) for name, part in info.parts.items()})
        case "timeout":
            error = StepTimeoutError(info.message)
        case "conflict":
            error = RunExistsError(info.message)
        case "not_encodable":
            error = WorkflowCodeError("NOT_ENCODABLE", info.message)
        case "rollback":
            error = RollbackError(info.message)
        case _:
            return rebuild(info, to_exception) or StepError(_named(info))
    return with_notes(error, info, to_exception(info.cause) if info.cause else None)


def _named(info: ErrorInfo) -> str:
    """The error's text after the name of its type, if it has one: a worker in another language may have given none."""
    name = info.type.rpartition(":")[2] or ("" if info.code == "task.failed" else info.code)
    return f"{name}: {info.message}" if name else info.message
