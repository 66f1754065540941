"""A checked program, for `plait afl check` and for `plait check FILE.afl`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from plait.cli import exits
from plait.cli.output import say
from plait.dialects.afl.language.diagnostic import Diagnostic, has_errors
from plait.dialects.afl.language.program import read_program
from plait.dialects.afl.language.source_file import SourceFile

from .diagnostic_view import say_diagnostics, summary
from .program_options import read_program_files


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    sources: Sequence[SourceFile]
    diagnostics: Sequence[Diagnostic]

    @property
    def exit(self) -> int:
        return exits.FAILED if has_errors(self.diagnostics) else exits.OK

    def say(self) -> None:
        say_diagnostics(self.diagnostics, self.sources)
        say(summary(self.diagnostics, len(self.sources)))

    def document(self) -> dict[str, Any]:
        found = msgspec.to_builtins(list(self.diagnostics))
        return {"valid": self.exit == exits.OK, "files": len(self.sources), "diagnostics": found}


def check_files(paths: list[Path], libraries: list[Path] | None = None, *, strict: bool = False) -> CheckedProgram:
    """Checks the files as one program."""
    sources = read_program_files(paths, libraries)
    return CheckedProgram(sources, read_program(sources, strict=strict).diagnostics)
