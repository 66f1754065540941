"""Loads a user's modules: by name, or as `path/to/file.py`, relative to the current folder.

A file below the current folder is imported under its dotted name, so that its steps have the same names
in every process, however they are started.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from plait.agents.tools.function_tool import FunctionTool
from plait.kernel.errors import InvalidInput, NotFound, PlaitError

from . import own_dialects
from .extensions import extensions

_OURS = str(Path(__file__).parents[1])


def load_definitions(names: Iterable[str]) -> list[object]:
    return [each for name in names for each in definitions_of(load_module(name))]


def definitions_of(module: ModuleType) -> list[object]:
    """Returns everything that a module declares, in the form that an engine takes."""
    found = [each for part in extensions() for each in (*part.declared(module).values(), *part.functions(module))]
    return [*found, *(each for each in vars(module).values() if isinstance(each, FunctionTool))]


def load_module(name: str) -> ModuleType:
    """Imports a module and registers its dialects, if it has any."""
    found = _load_module(name)
    own_dialects.note(found)
    return found


def _load_module(name: str) -> ModuleType:
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
    whole = Path(os.path.abspath(path))  # links are names too
    if not whole.is_relative_to(here):
        raise InvalidInput(
            "cli.no_module",
            f"{path} can't be imported from here",
            why="steps are recorded under their module's name, so the file must be below this folder",
            fix=f"change to its folder: cd {whole.parent}",
        )
    parts = whole.relative_to(here).with_suffix("").parts
    for part in parts:
        if not part.isidentifier():
            raise InvalidInput(
                "cli.no_module",
                f"{path} can't be imported",
                why=f"steps are recorded under their module's name, and `{part}` can't be one",
                fix="rename it: letters, digits and _, with no digit at the start",
            )
    return _import(".".join(parts), str(path))


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
    except BaseException as error:  # a user's module may do anything, even `sys.exit()`
        raise _broken(given, error) from error


def _broken(given: str, error: BaseException) -> InvalidInput:
    """Makes the error for user code that failed while it was imported; tells where, without our own frames."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    # A wrong option of `@step` is raised in our code, but written in the user's
    theirs = [frame for frame in frames if not frame.filename.startswith(_OURS)]
    frames = theirs or [frame for frame in frames if frame.filename != __file__]
    where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    if isinstance(error, SyntaxError):
        where = f"{error.filename}:{error.lineno}: "
    fix = "make `python -c 'import …'` work with it first"
    text = str(error)
    if isinstance(error, PlaitError):
        fix, text = error.fix or fix, f"{error.what}{error.why and f': {error.why}'} [{error.code}]"
    return InvalidInput(
        "cli.import_failed", f"`{given}` can't be imported", why=f"{where}{type(error).__name__}: {text}", fix=fix
    )
