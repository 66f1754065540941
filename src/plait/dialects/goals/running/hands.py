"""What the machine lets others do for it: it decides which work is due, and hands give it the call that does it.

A call runs as a task of the kernel, after its decision is durable. It returns one of the structs here, which is kept
as JSON; what it raises is a failure, tried again unless the exception has `retryable = False`. The text of the
exception is the error that people see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from plait.dialects.goals.steps.step import Step
from plait.kernel.machine import RunInfo


class Hand(msgspec.Struct, frozen=True, gc=False):
    call: Callable[[], Any]
    threaded: bool = False
    """A plain function that may block."""

    def __call__(self) -> Any:
        return self.call()


class Readied(msgspec.Struct, frozen=True):
    """What `prepare` returns."""

    inputs: dict[str, Any]
    """By inner name: mapping scripts have been applied."""
    run: bool = True
    """False: the predicate refused the whole step."""
    keep: list[int] | None = None
    """The places in the fan-out that the predicate lets through; None: all."""
    error: str = ""
    """A script failed: so does the step."""


class Worked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `work` and `shape` return."""

    outputs: dict[str, Any]
    """Declared ones by outer name, then whatever else was returned."""
    memo: bool = False


class Item(msgspec.Struct, frozen=True, gc=False):
    """One piece of work of a step: one of several, if it fans out."""

    run: RunInfo
    step: Step
    token: str
    """The same on every attempt: the idempotency key."""
    inputs: Raw
    """An object, by inner name. Without the meta inputs `receipt_token` and `webhook_url`: who calls knows them."""


class WorkError(Exception):
    """Work that failed; its text is what people see."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class Hands(Protocol):
    def prepare(self, run: RunInfo, step: Step, inputs: Mapping[str, Raw]) -> Hand:
        """Mapping scripts of inputs, then the predicate: on the whole step, then on each item of its fan-out.
        `inputs` are by outer name. Returns `Readied`; never raises for a script that fails."""
        ...

    def match(self, run: RunInfo, step: Step, name: str, value: Raw) -> Hand:
        """Judges one candidate of a required input. Returns a bool."""
        ...

    def work(self, item: Item) -> Hand:
        """The work itself: `sync`, `async`, `script` or `python`. Returns `Worked`; of an async call None, when the
        step server has accepted it."""
        ...

    def shape(self, item: Item, outputs: Raw) -> Hand:
        """Maps the raw outputs of a webhook or a child run, where a script has to. Returns `Worked`."""
        ...

    def undo(self, item: Item, outputs: Raw) -> Hand:
        """The compensator of an item that succeeded with these outputs."""
        ...

    def lacks_undo(self, step: Step) -> str | None:
        """The same of its compensator."""
        ...

    def lacks(self, step: Step) -> str | None:
        """Why the work of this step can't be done by this process, if it can't: "no handler `h`"."""
        ...
