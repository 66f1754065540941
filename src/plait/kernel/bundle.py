"""A dialect as the rest of Plait sees it: all that it brings, in one object.

`resolve` is the one way from a definition to something that can be started, for `engine.start`, children, HTTP and
the command line alike. It runs outside any decision, so it may read what other processes saved.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol, TypeGuard, runtime_checkable

import msgspec
from msgspec import Raw

from .definitions import Contents, Description, Numbering, Plan
from .errors import ErrorInfo, Flaw, RunBlocked
from .events import Event, Recorded
from .ids import Millis
from .inputs import Start
from .machine import Machine, RunInfo
from .task import Executor


class Reference(msgspec.Struct, frozen=True, gc=False):
    """A definition as JSON names it: `name`, `name@version-or-tag`, or the definition itself."""

    dialect: str
    """Empty for a name of any dialect."""
    definition: Any
    label: str
    """What people call it."""


class Startable(Protocol):
    """A Python object that is a definition and can say so in JSON."""

    def reference(self) -> Reference: ...


class Resolved(msgspec.Struct, frozen=True, gc=False):
    """A definition ready to start: found, its input checked and encoded."""

    definition: str
    version: str | None
    input: Raw
    data: Any = None
    """What the dialect wants to find in the `run.started` event."""
    identity: bytes = b""
    """What else, beside definition and input, makes a start the same as another."""
    taken: str = "kernel.run_exists"
    """The code of the refusal when a run of that id has another definition or input."""
    dialect: str = ""
    """Of a definition that was asked for by its name alone; else it is the one that was asked."""
    pii_fields: tuple[str, ...] = ()
    """Names of fields that hold personal values: not everyone may read them, and the run has a key of its own."""
    rate: tuple[str, int] | None = None
    """Starts like this one in the namespace, and how many of them there may be a minute; children are not counted."""

    def hash(self, dialect: str) -> str:
        """Tells a repeated start from a conflicting one."""
        found = _hash_of_names(dialect, self.definition, self.version).copy()
        found.update(self.input)
        if self.identity:
            found.update(self.identity)
        return found.hexdigest()

    def start(
        self,
        dialect: str,
        seed: int,
        deadline: Millis | None,
        labels: dict[str, str],
        *,
        announces: bool = False,
        independent: bool = False,
    ) -> Start:
        return Start(
            dialect=dialect,
            definition=self.definition,
            version=self.version,
            input=self.input,
            seed=seed,
            deadline=deadline,
            labels=labels,
            data=self.data,
            announces=announces,
            independent=independent,
        )


@lru_cache(1024)
def _hash_of_names(dialect: str, definition: str, version: str | None) -> hashlib.blake2b:
    """To go on from a copy of: most starts are of a definition that was started before."""
    return hashlib.blake2b(f"{dialect}\0{definition}\0{version}\0".encode(), digest_size=16)


class ForkPlan(msgspec.Struct, frozen=True, gc=False):
    """Where the log of a fork ends, and the event that says so."""

    upto: int
    event: Event


class RunDraft(msgspec.Struct, frozen=True, gc=False):
    """A definition that was made from what a run has done, as far as it goes."""

    dialect: str
    definition: dict[str, Any]
    document: Any
    """What there is to show and to decide before it is saved."""
    flaws: Sequence[Flaw] = ()
    """Why it can't be saved as it is."""
    warnings: Sequence[str] = ()


@runtime_checkable
class MakesDrafts(Protocol):
    """A dialect whose runs can become definitions."""

    async def draft(self, machine: Machine, options: Mapping[str, Any], namespace: str) -> RunDraft:
        """Refuses options that can't be read, and runs that no definition can be made of, with a `PlaitError`."""
        ...


@runtime_checkable
class AnswersCallers(Protocol):
    """A dialect whose runs answer queries, take updates, and publish values. `machine` is folded up to what is
    committed, in this process or another than the run's owner."""

    def query(self, machine: Machine, name: str, argument: Raw, now: Millis) -> Raw:
        """Reads; refuses with a `PlaitError`, `NotFound` or `Conflict` if only the owner could tell."""
        ...

    def published(self, machine: Machine, key: str) -> Raw | None:
        """The last value of a key; None if there is none."""
        ...


@runtime_checkable
class HasCode(Protocol):
    """A dialect whose runs need code of their engine, which other engines on the same store may not have."""

    def code(self) -> Collection[str]:
        """What this engine has, by name."""
        ...


@runtime_checkable
class IsCode(HasCode, Protocol):
    """A dialect whose definitions are code: what a run needs is known before it is loaded. Where that shows only in the
    run itself, its machine says so: see `machine.NeedsCode`."""

    def code_of(self, definition: str, version: str | None) -> str:
        """The name of the code that a run needs."""
        ...


@runtime_checkable
class SharesTasks(Protocol):
    """A dialect that leaves tasks to workers where the run's owner has not got their code (`Task.code`)."""

    def task_code(self) -> Collection[str]:
        """What this engine has of it, by name: it may do such tasks of other engines' runs."""
        ...


Retell = Callable[[Recorded], Recorded | None]
"""An event in the words of other readers; None if they are not told of it."""


@runtime_checkable
class HasFeeds(Protocol):
    """A dialect whose logs can also be read in other words, such as those of an older system."""

    @property
    def feeds(self) -> Mapping[str, Retell]:
        """By the name that readers ask for. An event keeps its number."""
        ...


@runtime_checkable
class LooksInside(Protocol):
    """A dialect whose saved definitions say what they are for, and may hold several things to start."""

    async def contents(self, definition: dict[str, Any], namespace: str) -> Contents:
        """Of one that can be saved."""
        ...


class Bundle(Protocol):
    name: str
    events: Any
    """The union of the dialect's own event types."""
    rewinds: bool
    """Whether its runs can be taken back to an earlier place."""
    retries_compensated: bool
    """Whether a failed run can be retried whose steps were compensated: it does them again."""
    edits_agents: bool
    """Whether a fork takes other settings of agents: `{"agents": {node: {"prompt", "instructions", "model"}}}`."""
    edits_outputs: bool
    """Whether a fork takes other outputs of what is done: `{node: value}`."""
    hears_after_end: bool
    """Whether a run that has ended takes messages all the same: it records that they came too late."""
    numbering: Numbering
    """How versions of its saved definitions are called."""
    surface: str
    """The module with its HTTP routes and commands; empty if it brings none. Imported by those who serve them."""

    @property
    def executors(self) -> Sequence[Executor]:
        """For kinds of tasks that only this dialect has."""
        ...

    # Definitions
    def declare(self, definition: object) -> bool:
        """Takes what a program declares for this dialect; False if it is not of this dialect."""
        ...

    def accepts(self, definition: object) -> bool:
        """Whether this Python object is a definition of this dialect."""
        ...

    def read(self, definition: str | dict[str, Any]) -> object:
        """A definition that came as JSON; refuses with a `PlaitError`. Text is a name: if it can't be one of this
        dialect, that is `NotFound`, and saved definitions are searched for it. One that was saved as source text comes
        as `{"source": text}`."""
        ...

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        """Whether this can be saved in the namespace, in the form that `read` takes; refuses with a `PlaitError`.
        Returns what should be looked at all the same."""
        ...

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        """Finds and checks; refuses with a `PlaitError`."""
        ...

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        """What a run would do, as far as can be told before it is started."""
        ...

    def describe(self) -> list[Description]:
        """The definitions that are loaded now."""
        ...

    def returns(self, definition: str, version: str | None) -> Any:
        """The Python type of the output, where code says so; else `Any`."""
        ...

    # Errors, as Python callers see them
    def failure(self, error: ErrorInfo) -> BaseException | None:
        """The exception that the error of a failed run stands for, where there was one."""
        ...

    def blocked(self, run_id: str, error: ErrorInfo) -> RunBlocked: ...

    # Runs
    def machine(self, info: RunInfo) -> Machine:
        """A machine at sequence number 0."""
        ...

    def restore(self, info: RunInfo, snapshot: Raw) -> Machine: ...

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        """Whether a fork that has an event must have the one after it, too."""
        ...

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        """`machine` is the source, folded whole."""
        ...

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        """The sequence number before `at` happened."""
        ...

    # Life, together with the engine's
    async def open(self, *, working: bool) -> None:
        """`working`: the engine takes up runs, so what was declared is made known."""
        ...

    async def drain(self) -> None:
        """Writes nothing any more; the engine is about to close."""
        ...

    async def close(self) -> None: ...


def is_bundle(found: object) -> TypeGuard[Bundle]:
    """Whether this is a dialect, among all that a program or its modules declare."""
    if isinstance(found, type | ModuleType):
        return False
    return hasattr(found, "machine") and hasattr(found, "resolve")
