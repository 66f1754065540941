"""`plait check`: whether modules and files are valid, and whether they fit the live runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Annotated

import typer

from plait.kernel.errors import InvalidInput

from . import exits
from .definition_files import read_definition_file
from .extension import Checked, CheckRequest, Extension
from .extensions import extensions
from .loading import load_module
from .options import DEFAULT_DB, Json, Key, Namespace, Place, Where
from .output import emit
from .session import do


def check(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE|FILE...",
            help="Modules with workflows and steps, or files of steps or graphs.",
            show_default=False,
        ),
    ],
    lint_only: Annotated[bool, typer.Option("--lint-only", help="Check only the code, without a database.")] = False,
    register: Annotated[bool, typer.Option("--register", help="Add the steps to the catalog: all or none.")] = False,
    update: Annotated[bool, typer.Option("--update", help="With --register: change existing steps.")] = False,
    namespace: Namespace = None,
    db: Place = DEFAULT_DB,
    key: Key = None,
    json: Json = False,
) -> None:
    """Replay all live runs on the code of these modules, without effects, and lint the workflows. Check the steps that
    they declare, or that JSON files hold: their shape, their scripts, their place in the catalog. Check graphs in JSON
    files: every flaw, with its place.

    Exit code 0: it fits. 1: a run does not fit, and the place and the line to paste are printed; or a step is wrong.
    2: could not check, for example because a run's workflow is not in these modules. Lint warnings don't change it.
    """
    if (lint_only and register) or (update and not register):
        raise InvalidInput("cli.usage", "--update goes with --register, and that with a database", fix="see --help")
    files = [name for name in names if _is_file(name)]
    modules = [load_module(name) for name in names if not _is_file(name)]
    _must_declare(modules)
    request = CheckRequest(
        files=(),
        modules=modules,
        where=None if lint_only else Where(db, key, namespace),
        register=register,
        update=update,
        json=json,
    )
    owned = _owned(files)
    results = [
        done for each in extensions() if (done := do(each.check(replace(request, files=owned[each])))) is not None
    ]
    code = _exit(results)
    if json:
        emit({"fits": code == exits.OK} | {name: value for each in results for name, value in each.document().items()})
    else:
        for each in results:
            each.say()
    raise typer.Exit(code)


def _owned(files: Sequence[str]) -> dict[Extension, list[str]]:
    """Groups files by dialect: a file that a dialect recognises is checked only by that dialect."""
    found: dict[Extension, list[str]] = {each: [] for each in extensions()}
    for name in files:
        recognised = read_definition_file(name)
        others = (each for each in extensions() if name.endswith(each.suffixes))
        for each in others if recognised is None else (recognised.extension,):
            found[each].append(name)
    return found


def _is_file(name: str) -> bool:
    return any(name.endswith(suffix) for each in extensions() for suffix in each.suffixes)


def _must_declare(modules: list[ModuleType]) -> None:
    for module in modules:
        if not any(each.declared(module) for each in extensions()):
            first, *others = (each.declares for each in extensions())
            raise InvalidInput(
                "cli.no_workflow",
                f"{module.__name__} has no {first}",
                why=f"and no {', no '.join(others)}",
                fix="mark functions with @workflow, or name another",
            )


def _exit(results: list[Checked]) -> int:
    codes = {each.exit for each in results}
    return next((code for code in (exits.FAILED, exits.REFUSED) if code in codes), exits.OK)
