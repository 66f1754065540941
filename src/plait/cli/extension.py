"""What a dialect says to the common commands. Each answer has a default, so a dialect gives those it has something to
say about; it names its extension, and commands of its own, in the module `commands` of its surface.

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
        """What lists of runs call it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What `plait check` was asked for."""

    files: Sequence[str]
    modules: Sequence[ModuleType]
    where: Where | None
    """The database or the server to check against; None if the sources are looked at alone."""
    register: bool
    update: bool
    json: bool


class Checked(Protocol):
    """What a check came to."""

    @property
    def exit(self) -> int: ...
    def say(self) -> None: ...
    def document(self) -> dict[str, Any]: ...


class Extension:
    noun = "definition"
    """What the command line calls a definition of this dialect."""
    declares = "definitions"
    """What its modules hold."""
    suffixes: tuple[str, ...] = ()
    """Of files that hold definitions."""
    named_inputs = False
    """Whether the input is a set of names with values, so that `--input NAME=VALUE` can be given for each."""
    resumes_ended = False
    """Whether a run that completed or was cancelled may have something left to retry."""
    replays = False
    """Whether its runs depend on the code that this process has loaded."""

    def declared(self, module: ModuleType) -> Mapping[str, object]:
        """What a module holds for this dialect, by the names that it has there."""
        return {}

    def functions(self, module: ModuleType) -> Iterable[object]:
        """What else an engine wants of a module: functions that definitions of any dialect may call by name."""
        return ()

    def startable(self, found: Sequence[object]) -> Startable | None:
        """What to start for objects of a module; None if they are not this dialect's."""
        return None

    def read(self, text: str) -> object:
        """The definition in `DIALECT:TEXT`, as an engine or a client takes it; by default, the name of a known one."""
        return text

    def recognises(self, content: Mapping[str, Any]) -> bool:
        """Whether a JSON file with this content is surely a definition of this dialect."""
        return False

    def content(self, path: Path) -> dict[str, Any] | None:
        """The definition in a file or a directory that is no JSON; None if it is not of this dialect."""
        return None

    def definition(self, content: dict[str, Any]) -> Startable:
        """What such a file defines."""
        raise NotImplementedError

    def planned(self, names: Sequence[str]) -> Startable | None:
        """What to plan for names that are no file; None if this dialect plans none."""
        return None

    def plan_alone(self, definition: Startable, given: Any) -> Plan | None:
        """The plan of a definition where there is no database; None if it needs one."""
        return None

    def say_plan(self, plan: Plan) -> None:
        """For people."""
        emit(plan.body)

    async def check(self, request: CheckRequest) -> Checked | None:
        """Checks what the request has for this dialect; None if that is nothing."""
        return None

    def blocked_advice(self, run: str) -> list[str]:
        """What to do about a blocked run, in order; `run` is how it is named on the command line."""
        return [f"load the code that it needs; then, if it does not continue by itself: plait retry {run}"]

    def blocked_fix(self, again: str) -> str:
        """The same for who ran it with `plait run`, in a sentence; `again` is that command."""
        return f"load the code that it needs, then: {again}"

    def fork_edits(self, edits: dict[str, Any]) -> dict[str, Any]:
        """The edits of a fork, from `--set NAME=JSON`."""
        return edits

    def nodes(self, view: RunView) -> list[Node]:
        """The operations of a run, in the order to show them."""
        return view.nodes

    def say_details(self, details: Mapping[str, Any], limit: int | None) -> None:
        """What a run's view has beside its nodes. Values are cut at `limit` characters."""
