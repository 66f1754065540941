"""A draft: the template that a recording would become, and what is still to be decided."""

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
    """The place in the definition, or in the options if it begins with `/options`."""
    message: str
    severity: Literal["error", "warning"] = "error"
    """An error keeps it from being saved."""


class DraftStep(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: str
    """The recorded name."""
    tool: str = ""
    status: Standing
    included: bool
    reason: Reason
    duplicate_of: str = ""
    template_name: str = ""
    """The name in the template, if it is included."""
    input: Any
    """The input in the template."""
    output: Any = None
    error: ErrorInfo | None = None
    read_only: bool = False
    preset: bool = False
    stale: bool = False
    depends_on: list[str] = []
    """Steps of the template that it waits for without referring to them."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    steps: list[DraftStep]
    suggestions: list[Suggestion]
    input_schema: dict[str, Any]
    problems: list[Problem]
    definition: dict[str, Any]
    """The template so far: without problems, it can be saved and started."""

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]
