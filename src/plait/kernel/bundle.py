"""A dialect as the rest of Plait sees it: all its parts in one object.

`resolve` is the only way from a definition to something that can be started, for `engine.start`, children, HTTP and the
command line alike. It runs outside any decision, so it may read what other processes saved.
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
    """A reference to a definition in JSON: `name`, `name@version-or-tag`, or the definition itself."""

    dialect: str
    """Empty: a name in any dialect."""
    definition: Any
    label: str
    """The name shown to people."""


class Startable(Protocol):
    """A Python object that is a definition and has a JSON reference."""

    def reference(self) -> Reference: ...


class Resolved(msgspec.Struct, frozen=True, gc=False):
    """A definition ready to start: found, with its input checked and encoded."""

    definition: str
    version: str | None
    input: Raw
    data: Any = None
    """Dialect data for the `run.started` event."""
    identity: bytes = b""
    """Further data, beside definition and input, that distinguishes one start from another."""
    taken: str = "kernel.run_exists"
    """The error code when a run with this id has another definition or input."""
    dialect: str = ""
    """The dialect found for a definition that was requested by name alone; empty: the one requested."""
    pii_fields: tuple[str, ...] = ()
    """Fields that hold personal data: reading them needs permission, and the run gets its own encryption key."""
    rate: tuple[str, int] | None = None
    """A rate limit as (group of starts in the namespace, starts per minute); children are not counted."""

    def hash(self, dialect: str) -> str:
        """Distinguishes a repeated start from a conflicting one."""
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
    """Cached and then copied, because most starts repeat a definition."""
    return hashlib.blake2b(f"{dialect}\0{definition}\0{version}\0".encode(), digest_size=16)


class ForkPlan(msgspec.Struct, frozen=True, gc=False):
    """The sequence number where a fork's log ends, and the event that records the fork."""

    upto: int
    event: Event


class RunDraft(msgspec.Struct, frozen=True, gc=False):
    """A definition derived from what a run has done so far."""

    dialect: str
    definition: dict[str, Any]
    document: Any
    """What to show and decide before it is saved."""
    flaws: Sequence[Flaw] = ()
    """Why it can't be saved as it is."""
    warnings: Sequence[str] = ()


@runtime_checkable
class MakesDrafts(Protocol):
    """A dialect whose runs can be turned into definitions."""

    async def draft(self, machine: Machine, options: Mapping[str, Any], namespace: str) -> RunDraft:
        """Raises `PlaitError` for invalid options, and for runs that can't become a definition."""
        ...


@runtime_checkable
class AnswersCallers(Protocol):
    """A dialect whose runs answer queries, accept updates and publish values. `machine` is folded up to the last
    commit, in the owner's process or another."""

    def query(self, machine: Machine, name: str, argument: Raw, now: Millis) -> Raw:
        """Answers a query. Raises `PlaitError`; `NotFound` or `Conflict` if only the owner can answer."""
        ...

    def published(self, machine: Machine, key: str) -> Raw | None:
        """The last value published under a key; None if there is none."""
        ...


@runtime_checkable
class HasCode(Protocol):
    """A dialect whose runs need code in the engine that other engines of the same store may not have."""

    def code(self) -> Collection[str]:
        """The names of the code loaded in this engine."""
        ...


@runtime_checkable
class IsCode(HasCode, Protocol):
    """A dialect whose definitions are code, so what a run needs is known before it is loaded. Where only the run itself
    shows that, its machine tells: see `machine.NeedsCode`."""

    def code_of(self, definition: str, version: str | None) -> str:
        """The name of the code that a run needs."""
        ...


@runtime_checkable
class SharesTasks(Protocol):
    """A dialect that leaves a task to workers if the run's owner lacks its code (`Task.code`)."""

    def task_code(self) -> Collection[str]:
        """The names of the task code in this engine: it may run such tasks for other engines' runs."""
        ...


Retell = Callable[[Recorded], Recorded | None]
"""Translates an event for other readers; None hides it."""


@runtime_checkable
class HasFeeds(Protocol):
    """A dialect whose logs can also be read in another event format, such as that of an older system."""

    @property
    def feeds(self) -> Mapping[str, Retell]:
        """Translations by feed name. An event keeps its number."""
        ...


@runtime_checkable
class LooksInside(Protocol):
    """A dialect whose saved definitions have descriptions, and may offer several things to start."""

    async def contents(self, definition: dict[str, Any], namespace: str) -> Contents:
        """The contents of a definition that can be saved."""
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
    """Whether a fork accepts changed agent settings: `{"agents": {node: {"prompt", "instructions", "model"}}}`."""
    edits_outputs: bool
    """Whether a fork accepts changed outputs of finished nodes: `{node: value}`."""
    hears_after_end: bool
    """Whether an ended run still accepts messages, and records that they came too late."""
    numbering: Numbering
    """How versions of saved definitions are numbered."""
    surface: str
    """The module with the dialect's HTTP routes and commands; empty if none. Imported only where they are served."""

    @property
    def executors(self) -> Sequence[Executor]:
        """Executors for kinds of tasks that only this dialect has."""
        ...

    # Definitions
    def declare(self, definition: object) -> bool:
        """Registers what a program declares for this dialect; False if it belongs to another."""
        ...

    def accepts(self, definition: object) -> bool:
        """Whether this Python object is a definition of this dialect."""
        ...

    def read(self, definition: str | dict[str, Any]) -> object:
        """Reads a definition from JSON; raises `PlaitError`. Text is a name: one that can't be of this dialect raises
        `NotFound`, and saved definitions are searched instead. A definition saved as source text is passed as
        `{"source": text}`."""
        ...

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        """Checks whether a definition, in the form that `read` accepts, can be saved in the namespace; raises
        `PlaitError`. Returns warnings."""
        ...

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        """Finds the definition and checks the input; raises `PlaitError`."""
        ...

    async def plan(self, definition: object, input: object, namespace: str) -> Plan:
        """What a run would do, as far as can be told before it starts."""
        ...

    def describe(self) -> list[Description]:
        """The definitions loaded now."""
        ...

    def returns(self, definition: str, version: str | None) -> Any:
        """The Python type of the output, where code says so; else `Any`."""
        ...

    # Errors, as Python callers see them
    def failure(self, error: ErrorInfo) -> BaseException | None:
        """The exception behind the error of a failed run, if there was one."""
        ...

    def blocked(self, run_id: str, error: ErrorInfo) -> RunBlocked: ...

    # Runs
    def machine(self, info: RunInfo) -> Machine:
        """A machine at sequence number 0."""
        ...

    def restore(self, info: RunInfo, snapshot: Raw) -> Machine: ...

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        """Whether a fork that includes an event must include the next one, too."""
        ...

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        """Plans a fork. `machine` is the source run, fully folded."""
        ...

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        """The sequence number just before `at` happened."""
        ...

    # Lifecycle, together with the engine's
    async def open(self, *, working: bool) -> None:
        """Starts the dialect. `working`: the engine executes runs, so declarations are published."""
        ...

    async def drain(self) -> None:
        """Stops all writes; the engine is about to close."""
        ...

    async def close(self) -> None: ...


def is_bundle(found: object) -> TypeGuard[Bundle]:
    """Whether this object, found in a program or module, is a dialect."""
    if isinstance(found, type | ModuleType):
        return False
    return hasattr(found, "machine") and hasattr(found, "resolve")
