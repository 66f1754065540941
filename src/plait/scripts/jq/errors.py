"""Errors of a jq query: in its text, its run, its results, or its limits."""

from __future__ import annotations

from typing import Literal

from plait.kernel.errors import InvalidInput

Kind = Literal["syntax", "runtime", "too_large", "time_limit", "crashed"]

_FIXES: dict[Kind, str] = {
    "too_large": "select less",
    "time_limit": "check that every recursion ends, and that no pattern is slow",
    "crashed": "try again; if the query does it each time, make it simpler",
}


class JqError(InvalidInput):
    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(f"jq.{kind}", message, fix=_FIXES.get(kind, ""))
        self.kind: Kind = kind
        self.retryable = kind == "crashed"
        """A worker may have died because of another query, so a crash is retryable; all other errors are
        deterministic."""
