"""Which of several failures to show as the cause."""

from __future__ import annotations

from collections.abc import Iterable

from .failures import UPSTREAM
from .nodes import StepNode
from .states import ERROR


def cause_among(inside: Iterable[StepNode]) -> StepNode | None:
    """The first failure, in the order given. A step that failed because another did is never the cause."""
    found: StepNode | None = None
    for each in inside:
        error = each.record.error
        if each.record.state == ERROR and error is not None:
            if error.code != UPSTREAM:
                return each
            found = found or each
    return found
