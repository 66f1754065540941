"""Finding a user's workflows and steps: `module:function`, or `path/to/file.py:function`, seen from the current folder.

A file below the current folder is imported under its dotted name, so that its steps have the same names
in every process, however they are started.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from plait.code import Workflow
from plait.dialects.goals.bundle import is_step
from plait.dialects.goals.definition import Goals
from plait.dialects.goals.steps.builder import PythonStep, StepBuilder
from plait.dialects.goals.steps.step import Step
from plait.kernel.errors import InvalidInput, NotFound

DeclaredStep = Step | StepBuilder | PythonStep[..., Any]
Startable = Workflow[..., Any] | Goals


def load_target(target: str) -> tuple[list[object], Startable]:
    """What is to run, and all else that its module declares. Steps, one or several, are goals."""
    name, colon, attributes = target.rpartition(":")
    if not colon or not name or not attributes:
        raise InvalidInput(
            "cli.bad_target",
            f"{target!r} does not name a workflow",
            fix="write module:function, for one app:order, or path/to/file.py:function",
        )
    module = load_module(name)
    found = [_attribute(module, name, each) for each in attributes.split(",")]
    if len(found) == 1 and isinstance(found[0], Workflow):
        return definitions_of(module), found[0]
    for attribute, each in zip(attributes.split(","), found, strict=True):
        if isinstance(each, Workflow):
            raise InvalidInput(
                "cli.bad_target", f"`{attribute}` in {name} is a workflow", fix="run it alone: only steps go together"
            )
    return definitions_of(module), Goals(tuple(id_of(each) for each in found if not isinstance(each, Workflow)))


def _attribute(module: ModuleType, name: str, attribute: str) -> Workflow[..., Any] | DeclaredStep:
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if isinstance(found, Workflow) or is_step(found):
        return found  # pyright: ignore[reportUnknownVariableType]
    if found is not None:
        kind = "function" if callable(found) else type(found).__name__
        raise InvalidInput(
            "cli.not_a_workflow",
            f"`{attribute}` in {name} is a plain {kind}",
            fix="mark it with @workflow, or make it a step with @python_step",
        )
    workflows, steps = workflows_of(module), steps_of(module)
    near = difflib.get_close_matches(attribute, [*workflows, *steps], 1)
    own = f"its workflows: {', '.join(workflows) or 'none'}" + (f"; its steps: {', '.join(steps)}" if steps else "")
    raise NotFound(
        "cli.no_workflow",
        f"{name} has no `{attribute}`",
        why=own,
        fix=f"did you mean {name}:{near[0]}?" if near else "check the name",
    )


def load_definitions(names: Iterable[str]) -> list[object]:
    """All that these modules declare, as an engine wants it."""
    return [each for name in names for each in definitions_of(load_module(name))]


def definitions_of(module: ModuleType) -> list[object]:
    return [module, *steps_of(module).values()]


def workflows_of(module: ModuleType) -> dict[str, Workflow[..., Any]]:
    """The workflows of a module, by the names they have in it."""
    return {name: found for name, found in vars(module).items() if isinstance(found, Workflow)}


def steps_of(module: ModuleType) -> dict[str, DeclaredStep]:
    """The steps of a module, by the names they have in it; one that has two names counts once. `_name` is left out: a
    builder that others are made from need be no step yet."""
    found: dict[int, tuple[str, DeclaredStep]] = {}
    for name, each in vars(module).items():
        if is_step(each) and not name.startswith("_"):
            found.setdefault(id(each), (name, each))
    return dict(found.values())


def id_of(step: DeclaredStep) -> str:
    match step:
        case Step():
            return step.id
        case StepBuilder():
            return step.build().id
        case PythonStep():
            return step.definition.id


def load_module(name: str) -> ModuleType:
    here = Path.cwd()
    if str(here) not in sys.path:
        sys.path.insert(0, str(here))
    if name.endswith(".py") or "/" in name:
        return _load_file(Path(name), here)
    return _import(name, name)


def _load_file(path: Path, here: Path) -> ModuleType:
    if path.suffix != ".py":
        raise InvalidInput("cli.no_module", f"{path} is not a Python file", fix="name a .py file or a module")
    if not path.is_file():
        raise NotFound("cli.no_module", f"there is no file {path}", why=f"seen from {here}", fix="check the path")
    try:
        parts = Path(os.path.abspath(path)).relative_to(here).with_suffix("").parts  # links are names too
    except ValueError:
        parts = ()
    if parts and all(part.isidentifier() for part in parts):
        return _import(".".join(parts), str(path))
    raise InvalidInput(
        "cli.no_module",
        f"{path} can't be imported from here",
        why="steps are recorded under their module's name, so the file must be below this folder",
        fix=f"change to its folder: cd {path.absolute().parent}",
    )


def _import(dotted: str, given: str) -> ModuleType:
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError as error:
        if error.name is not None and (dotted == error.name or dotted.startswith(f"{error.name}.")):
            raise NotFound(
                "cli.no_module",
                f"there is no module `{given}`",
                why=f"seen from {Path.cwd()}",
                fix="change to the folder that has it, or set PYTHONPATH",
            ) from None
        raise _broken(given, error) from error
    except KeyboardInterrupt:
        raise
    except (TypeError, ValueError) as error:
        if dotted.startswith(".") or not dotted.strip("."):
            raise InvalidInput("cli.bad_target", f"{given!r} is no module name", fix="write it in full") from None
        raise _broken(given, error) from error
    except BaseException as error:  # a user's module may do anything, `sys.exit()` too
        raise _broken(given, error) from error


def _broken(given: str, error: BaseException) -> InvalidInput:
    """The user's own code failed while it was imported: say where, without our frames around it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    frames = [frame for frame in frames if frame.filename != __file__]
    where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    if isinstance(error, SyntaxError):
        where = f"{error.filename}:{error.lineno}: "
    return InvalidInput(
        "cli.import_failed",
        f"`{given}` can't be imported",
        why=f"{where}{type(error).__name__}: {error}",
        fix="make `python -c 'import …'` work with it first",
    )
