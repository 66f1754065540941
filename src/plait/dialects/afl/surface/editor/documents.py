"""The program that an open document belongs to.

It consists of the document, the other files of the workspace that contribute to its namespaces, and the namespaces it
uses: what `plait afl check FILE --library WORKSPACE` would read. Open documents count as they are in the editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.dialects.afl.language.loading import paths_in, read_file, read_shelf, related_files
from plait.dialects.afl.language.program import Program, read_program
from plait.dialects.afl.language.source_file import SourceFile
from plait.kernel.errors import PlaitError


class Documents:
    """Keeps the last program of each document, for queries while it can't be parsed."""

    def __init__(self) -> None:
        self._programs: dict[str, Program] = {}

    def read(self, name: str, opened: Mapping[str, str], folders: Sequence[Path]) -> Program:
        document = SourceFile(name, opened[name])
        files = {each.name: each for each in _files(folders)}
        files |= {path: SourceFile(path, text) for path, text in opened.items()}
        program = read_program(related_files(document, read_shelf(files.values())))
        if name not in self._programs or not _broken(program, name):
            self._programs[name] = program
        return program

    def last(self, name: str) -> Program | None:
        """The last program in which the document had no syntax errors; before that, the current one."""
        return self._programs.get(name)

    def forget(self, name: str) -> None:
        self._programs.pop(name, None)


def _broken(program: Program, name: str) -> bool:
    return any(each.code == "PARSE_ERROR" and each.file == name for each in program.diagnostics)


def _files(folders: Sequence[Path]) -> list[SourceFile]:
    found: list[SourceFile] = []
    for folder in folders:
        for path in paths_in(folder):
            try:
                found.append(read_file(path))
            except PlaitError:
                continue  # deleted since it was listed, or not readable
    return found
