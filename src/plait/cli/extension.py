"""A dialect's hooks for the common commands. Each has a default, so a dialect overrides only those it needs; it names
its extension, and its own commands, in the module `commands` of its surface.

A surface may use what is public in `options`, `output`, `words`, `connect`, `session` and this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from plait.kernel.definitions import Plan
from plait.kernel.view import Node, RunView

from .options import Where
from .output import emit


class Startable(Protocol):
    """A definition that an engine or a client can start."""

    @property
    def label(self) -> str:
        """Its name in lists of runs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """The request of a `plait check`."""

    files: Sequence[str]
    modules: Sequence[ModuleType]
    where: Where | None
    """The database or the server to check against; None: check only the sources."""
    register: bool
    update: bool
    json: bool


class Checked(Protocol):
    """The result of a check."""

    @property
    def exit(self) -> int: ...
    def say(self) -> None: ...
    def document(self) -> dict[str, Any]: ...


class Extension:
    noun = "definition"
    """The word for a definition of this dialect on the command line."""
    declares = "definitions"
    """The word for what its modules declare."""
    suffixes: tuple[str, ...] = ()
    """Suffixes of files with definitions."""
    named_inputs = False
    """Whether the input is a set of names with values, so that `--input NAME=VALUE` can be given for each."""
    resumes_ended = False
    """Whether a run that completed or was cancelled may have something left to retry."""
    replays = False
    """Whether its runs depend on the code that this process has loaded."""

    def declared(self, module: ModuleType) -> Mapping[str, object]:
        """Returns what a module declares for this dialect, by name."""
        return {}

    def functions(self, module: ModuleType) -> Iterable[object]:
        """Returns what else an engine needs from a module: functions that any definition may call by name."""
        return ()

    def startable(self, found: Sequence[object]) -> Startable | None:
        """Returns what to start for objects of a module; None if they are not of this dialect."""
        return None

    def read(self, text: str) -> object:
        """Returns the definition in `DIALECT:TEXT`, as engines and clients take it; by default, a known name."""
        return text

    def recognises(self, content: Mapping[str, Any]) -> bool:
        """Whether a JSON file with this content is certainly a definition of this dialect."""
        return False

    def content(self, path: Path) -> dict[str, Any] | None:
        """Reads a definition from a directory or a file that is not JSON; None if it is not of this dialect."""
        return None

    def definition(self, content: dict[str, Any]) -> Startable:
        """Returns what such a file defines."""
        raise NotImplementedError

    def planned(self, names: Sequence[str]) -> Startable | None:
        """Returns what to plan for names that are not files; None if this dialect plans none."""
        return None

    def plan_alone(self, definition: Startable, given: Any) -> Plan | None:
        """Plans a definition without a database; None if it needs one."""
        return None

    def say_plan(self, plan: Plan) -> None:
        """Prints a plan for people."""
        emit(plan.body)

    async def check(self, request: CheckRequest) -> Checked | None:
        """Checks what the request has for this dialect; None if it has nothing."""
        return None

    def blocked_advice(self, run: str) -> list[str]:
        """Returns what to do about a blocked run, in order; `run`: its name on the command line."""
        return [f"load the code that it needs; then, if it does not continue by itself: plait retry {run}"]

    def blocked_fix(self, again: str) -> str:
        """The same for a run started by `plait run`, in a sentence; `again`: the command that continues it."""
        return f"load the code that it needs, then: {again}"

    def fork_edits(self, edits: dict[str, Any]) -> dict[str, Any]:
        """Makes the edits of a fork from `--set NAME=JSON`."""
        return edits

    def nodes(self, view: RunView) -> list[Node]:
        """Returns the operations of a run, in the order to show them."""
        return view.nodes

    def say_details(self, details: Mapping[str, Any], limit: int | None) -> None:
        """Prints what a run's view has besides its nodes. Values are cut at `limit` characters."""
