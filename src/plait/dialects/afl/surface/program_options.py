"""Common options of the commands about programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plait.dialects.afl.language.loading import read_paths, with_libraries
from plait.dialects.afl.language.source_file import SourceFile
from plait.dialects.afl.libraries import configured_libraries

Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files, or directories of them.", show_default=False)
]
Library = Annotated[
    list[Path] | None,
    typer.Option("--library", metavar="PATH", help="A directory with namespaces that are used; repeatable."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings are errors.")]


def read_program_files(paths: list[Path], libraries: list[Path] | None) -> list[SourceFile]:
    return with_libraries(read_paths(paths), [*(libraries or ()), *configured_libraries()])
