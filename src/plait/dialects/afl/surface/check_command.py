"""`plait afl check`: all errors and warnings of a program, at once."""

from __future__ import annotations

import typer

from plait.cli import exits
from plait.cli.options import Json
from plait.cli.output import emit

from .check_programs import check_files
from .program_options import Library, Paths, Strict


def check(paths: Paths, library: Library = None, strict: Strict = False, json: Json = False) -> None:
    """Check a program: names, types, and everything else that can be known before it runs."""
    checked = check_files(paths, library, strict=strict)
    if json:
        emit(checked.document())
    else:
        checked.say()
    if checked.exit != exits.OK:
        raise typer.Exit(checked.exit)
