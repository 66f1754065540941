"""Steps as people wrote them: in JSON files, and at the top level of modules; with the location of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from plait.cli.options import read_json
from plait.dialects.goals.errors import GoalsError, StepExists
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import InvalidInput, PlaitError

from .declared import DeclaredStep, steps_of


@dataclass(frozen=True, slots=True)
class Wrong:
    """One flaw of a step."""

    file: str
    pointer: str
    """The location in the file; in a module, the name of the step's variable and the location in the step."""
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Written:
    file: str
    pointer: str
    declared: DeclaredStep | dict[str, Any]

    def read(self) -> Step:
        match self.declared:
            case Step():
                return self.declared
            case StepBuilder():
                return self.declared.build()
            case PythonStep():
                return self.declared.definition
            case _:
                return read_step(self.declared)

    def wrongs(self, error: PlaitError) -> list[Wrong]:
        """All flaws that an error names."""
        if error.flaws:
            return [Wrong(self.file, self.pointer + flaw.pointer, flaw.code, flaw.message) for flaw in error.flaws]
        message = error.message if isinstance(error, GoalsError) else str(error)
        if isinstance(error, StepExists):
            message = f"{error.what}; use --update"
        return [Wrong(self.file, self.pointer, error.code, message)]


def in_file(name: str) -> list[Written]:
    """One step, a list of them, or {"steps": [...]}."""
    found = read_json(f"@{name}", "the steps")
    listed, place = found, ""
    if isinstance(found, dict) and "steps" in found:
        listed, place = cast("dict[str, Any]", found)["steps"], "/steps"
        if len(cast("dict[str, Any]", found)) > 1 or not isinstance(listed, list):
            raise InvalidInput("cli.bad_steps", f"{name} holds no list of steps", fix='write {"steps": [...]} alone')
    if isinstance(listed, list):
        steps = cast("list[Any]", listed)
        return [Written(name, f"{place}/{index}", each) for index, each in enumerate(steps)]
    return [Written(name, "", cast("dict[str, Any]", found))]


def in_module(module: ModuleType) -> Iterator[Written]:
    file = _shown(module.__file__ or module.__name__)
    for name, step in steps_of(module).items():
        yield Written(file, name, step)


def _shown(file: str) -> str:
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file
