"""Script errors, whatever the language.

CompileError    found before it runs, when it is registered
ScriptError     found while it runs
"""

from __future__ import annotations

from plait.kernel.task import TaskError


class CompileError(Exception):
    """A script that can't run. `line` counts from 1, and is 0 if unknown; `fix` may be empty."""

    def __init__(self, message: str, line: int = 0, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.fix = fix


class ScriptError(TaskError):
    """A script that failed. Its text starts with the line, if that is known."""
