"""The result of checking definitions in files: every flaw with its place, and probable mistakes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.text import Text

from plait.kernel.errors import PlaitError

from . import exits, words
from .options import read_json
from .output import say

Warnings = Callable[[dict[str, Any]], Awaitable[list[str]]]
"""Checks one definition and returns its warnings; refuses it with all its flaws."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One flaw of a definition."""

    file: str
    pointer: str
    code: str
    message: str


@dataclass(slots=True)
class CheckedFiles:
    noun: str
    files: Sequence[str]
    wrongs: list[Wrong] = field(default_factory=list[Wrong])
    warnings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The warnings by file."""

    @property
    def exit(self) -> int:
        return exits.FAILED if self.wrongs else exits.OK

    def say(self) -> None:
        for wrong in self.wrongs:
            place = f"{wrong.file}: {wrong.pointer}: " if wrong.pointer else f"{wrong.file}: "
            text = Text.assemble((place, "bold"), ("error ", "red"), wrong.message)
            say(text.append(f" [{wrong.code}]", "bright_black"))
        for file, warnings in self.warnings.items():
            for warning in warnings:
                say(Text.assemble((f"{file}: ", "bold"), ("warning ", "yellow"), warning))
        count = words.counted(len(self.files), self.noun)
        say(f"{count}, {words.counted(len(self.wrongs), 'error')}" if self.wrongs else f"{count} right")

    def document(self) -> dict[str, Any]:
        errors = [asdict(wrong) for wrong in self.wrongs]
        return {f"{self.noun}s": [*self.files], "errors": errors, "warnings": self.warnings}


async def check_files(noun: str, files: Sequence[str], refusal: str, warnings: Warnings) -> CheckedFiles:
    """Checks files. `refusal`: the code of the error that carries the flaws of a definition."""
    result = CheckedFiles(noun, files)
    for file in files:
        content = read_json(f"@{file}", f"the {noun}")
        try:
            found = await warnings(content)
        except PlaitError as error:
            if error.code != refusal:
                raise
            result.wrongs += [Wrong(file, flaw.pointer, flaw.code, flaw.message) for flaw in error.flaws]
        else:
            result.warnings |= {file: found} if found else {}
    return result
