"""`plait afl compile`: a program as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from plait.cli import exits
from plait.cli.options import Json
from plait.cli.output import emit
from plait.dialects.afl.language.compile import Compiled, compile_source
from plait.kernel.errors import InvalidInput

from .diagnostic_view import say_diagnostics
from .program_options import Library, Paths, Strict, read_program_files

Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there.", show_default="stdout")
]
NoLocations = Annotated[bool, typer.Option("--no-locations", help="Leave out where each node stands.")]
Provenance = Annotated[bool, typer.Option("--provenance", help="Say the file and the offset of each node too.")]
Compact = Annotated[bool, typer.Option("--compact", help="Without white space.")]


def compile_(
    paths: Paths,
    output: Output = None,
    library: Library = None,
    strict: Strict = False,
    no_locations: NoLocations = False,
    provenance: Provenance = False,
    compact: Compact = False,
    json: Json = False,
) -> None:
    """Compile a program to JSON. Diagnostics go to stderr; with --json they stand beside the program."""
    sources = read_program_files(paths, library)
    found = compile_source(sources, strict=strict, locations=not no_locations, provenance=provenance)
    program = found.program if isinstance(found, Compiled) else None
    if json:
        emit({"valid": program is not None, "program": program, "diagnostics": found.diagnostics})
    else:
        say_diagnostics(found.diagnostics, sources, stderr=True)
    if program is None:
        raise typer.Exit(exits.FAILED)
    if output is not None or not json:
        _write(program, output, compact=compact)


def _write(program: dict[str, Any], output: Path | None, *, compact: bool) -> None:
    encoded = msgspec.json.encode(program)
    text = (encoded if compact else msgspec.json.format(encoded, indent=2)).decode() + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput("afl.unwritable", f"{output} can't be written", why=error.strerror or str(error)) from None
