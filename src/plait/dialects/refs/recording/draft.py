"""A draft: what a recording would be as a template, and what is still to be decided."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from plait.kernel.errors import ErrorInfo

from .recorded import Standing
from .selection import Reason
from .suggestions import Suggestion


class Problem(msgspec.Struct, frozen=True):
    code: str
    pointer: str
    """Into the definition, or into the options if it begins with `/options`."""
    message: str
    severity: Literal["error", "warning"] = "error"
    """With an error it can't be saved."""


class DraftStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    """As it was recorded."""
    tool: str = ""
    status: Standing
    included: bool
    reason: Reason
    duplicate_of: str = ""
    template_name: str = ""
    """In the template, if it is included."""
    input: Any
    """As the template would have it."""
    output: Any = None
    error: ErrorInfo | None = None
    read_only: bool = False
    preset: bool = False
    stale: bool = False
    depends_on: list[str] = []
    """In the template: steps that it waits for without referring to them."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    steps: list[DraftStep]
    suggestions: list[Suggestion]
    input_schema: dict[str, Any]
    problems: list[Problem]
    definition: dict[str, Any]
    """The template, as far as it goes: free of problems, it can be saved and started."""

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]
