"""Every error of the engine, in one tree; dialects add leaves of their own.

    PlaitError
    ├── InvalidInput        422  the caller sent something that can't be used
    ├── Forbidden           403  the caller is known, but not one of those who may do this
    ├── NotFound            404  no such run, definition, dead letter (or it is another namespace's)
    ├── Conflict            409  it exists with other content, or is in the wrong state for this
    │   └── Stale           412  it has changed since the caller looked
    ├── Erased              410  its values were destroyed on request, and can't be read any more
    ├── TooLarge            413  over a limit of size
    ├── Busy                429  over a limit of rate or backlog
    ├── RunFailed           409  raised by `handle.result()`: the run ended without an output
    ├── RunBlocked          409  raised by `handle.result()`: the run can't go on with the code that is loaded
    ├── Damaged             500  rows of the store were changed or lost: what they held is refused
    └── Unavailable         503  the store can't be reached, is full, locked or of another version
        └── LeaseLost       503  another engine owns the shard now; this one stopped writing

An error says what happened, why, and what to do; `code` is stable and is what programs match on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import msgspec


class Flaw(msgspec.Struct, frozen=True):
    """One of several things that are wrong with what a caller sent."""

    code: str
    pointer: str
    """Where the flaw is, as a JSON pointer."""
    message: str


class PlaitError(Exception):
    """Base of all errors that Plait raises on purpose."""

    status: ClassVar[int] = 500
    flaws: Sequence[Flaw] = ()

    def __init__(self, code: str, what: str, *, why: str = "", fix: str = "", flaws: Sequence[Flaw] = ()) -> None:
        super().__init__(code, what, why, fix)
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix
        if flaws:
            self.flaws = flaws

    def __str__(self) -> str:
        return f"{self.text} [{self.code}]"

    @property
    def text(self) -> str:
        """The message without the code, for displays that show the code separately."""
        text = self.what
        if self.why:
            text += f": {self.why}"
        if self.fix:
            text += f". To fix: {self.fix}"
        return text


class InvalidInput(PlaitError):
    """What the caller sent can't be used; sending it again can't help."""

    status = 422


class Forbidden(PlaitError):
    """The caller is known, but not one of those who may do this."""

    status = 403


class NotFound(PlaitError):
    """There is no such run, definition, approval or dead letter; or it is another namespace's."""

    status = 404


class Conflict(PlaitError):
    """It exists with other content, or is in the wrong state for what was asked."""

    status = 409


class Stale(Conflict):
    """It has changed since the caller looked: what was expected is not so any more."""

    status = 412


class Erased(PlaitError):
    """The values were destroyed on request: their encryption key is gone."""

    status = 410

    at: int = 0
    """When, in milliseconds; 0 if unknown."""

    @classmethod
    def since(cls, at: int, what: str) -> Self:
        error = cls("codec.erased", what, why="the key of their subject was destroyed on request")
        error.at = at
        return error


class TooLarge(PlaitError):
    """A value is over a size limit."""

    status = 413


class Busy(PlaitError):
    """The backlog is too long: try again later."""

    status = 429

    retry_after: int | None = None
    """Seconds after which a retry may succeed, if known."""


DAMAGED = "store.damaged"


class Damaged(PlaitError):
    """Rows of the store are not what was written: a disk, a program or a person changed them."""

    status = 500

    def __init__(self, what: str, why: str) -> None:
        super().__init__(
            DAMAGED,
            what,
            why=why,
            fix="restore it from a backup; `plait doctor --deep` lists all that is damaged",
        )


class Unavailable(PlaitError):
    """The store can't be reached, is full, locked or of another version; or the engine is closed."""

    status = 503


class LeaseLost(Unavailable):
    """Another engine owns the run now and continues it."""

    def __init__(self, what: str = "another engine owns this run now") -> None:
        super().__init__(
            "kernel.lease_lost",
            what,
            why="the lease of its shard ran out or was taken over",
            fix="nothing is lost: the new owner goes on; ask again",
        )


class ErrorInfo(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An error as it is kept in the log: enough to show it, and to raise it again."""

    code: str
    message: str
    kind: str = "error"
    type: str = ""
    args: list[Any] = []
    attrs: dict[str, Any] = {}
    cause: ErrorInfo | None = None
    parts: dict[str, ErrorInfo] = {}
    ops: list[str] = []
    """The operations of the run that caused it, the innermost first; a retry opens them again."""
    label: str = ""
    """The label of the first operation."""
    trace: str = ""
    notes: list[str] = []


class RunFailed(PlaitError):
    """The run ended as failed or cancelled, so it has no result."""

    status = 409

    def __init__(self, run_id: str, run_status: str, error: ErrorInfo, why: str = "") -> None:
        """`why`: the root cause, shown first."""
        super().__init__(error.code, f"run {run_id} {run_status}", why=why or error.message)
        self.run_id = run_id
        self.run_status = run_status
        self.error = error


class RunBlocked(PlaitError):
    """The run can't continue with the code loaded here. Nothing is lost: it continues once that is fixed."""

    status = 409

    def __init__(self, run_id: str, error: ErrorInfo) -> None:
        super().__init__(error.code, f"run {run_id} is blocked", why=error.message)
        self.error = error
