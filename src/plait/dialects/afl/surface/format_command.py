"""`plait afl fmt`: tidy source text."""

from __future__ import annotations

import difflib
import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import exits
from plait.cli.options import Json
from plait.cli.output import emit, say
from plait.dialects.afl.language.diagnostic import Diagnostic
from plait.dialects.afl.language.formatting.format import format_source
from plait.dialects.afl.language.loading import read_paths
from plait.dialects.afl.language.source_file import SourceFile
from plait.kernel.errors import InvalidInput

from .diagnostic_view import say_diagnostics
from .program_options import Paths

CheckOnly = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if a file would change.")]
Diff = Annotated[bool, typer.Option("--diff", help="Write nothing; print what would change.")]


def format_(paths: Paths, check: CheckOnly = False, diff: Diff = False, json: Json = False) -> None:
    """Format files in place: four spaces, comments kept, the same program. Files with syntax errors are left alone."""
    sources = read_paths(paths)
    changed: list[tuple[SourceFile, str]] = []
    found: list[Diagnostic] = []
    for source in sources:
        formatted = format_source(source)
        found.extend(formatted.diagnostics)
        if formatted.text is not None and formatted.text != source.text:
            changed.append((source, formatted.text))
    if not check and not diff:
        for source, text in changed:
            _replace(Path(source.name), text)
    if json:
        emit({"changed": [source.name for source, _ in changed], "files": len(sources), "diagnostics": found})
    else:
        say_diagnostics(found, sources)
        _say_changed(changed, check=check, diff=diff)
    if found or (check and changed):
        raise typer.Exit(exits.FAILED)


def _say_changed(changed: list[tuple[SourceFile, str]], *, check: bool, diff: bool) -> None:
    for source, text in changed:
        if diff:
            lines = difflib.unified_diff(
                source.text.splitlines(), text.splitlines(), source.name, f"{source.name} (formatted)", lineterm=""
            )
            for line in lines:
                say(line)
        else:
            say(f"{'would format' if check else 'formatted'} {source.name}")


def _replace(path: Path, text: str) -> None:
    """Replaces the file as a whole: an interruption leaves the old text."""
    target = Path(os.path.realpath(path))
    written = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        written.write_text(text, encoding="utf-8", newline="\n")
        shutil.copymode(target, written)
        os.replace(written, target)
    except OSError as error:
        written.unlink(missing_ok=True)
        raise InvalidInput("afl.unwritable", f"{path} can't be written", why=error.strerror or str(error)) from None
