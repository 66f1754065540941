"""A compiled query: can be evaluated any number of times, from any thread."""

from __future__ import annotations

from typing import Any

from plait.conditions.budget import MAX_STEPS, Budget

from .errors import JsonPathSyntaxError
from .evaluation import Run
from .lowering import Find, Lowering, Test
from .reading import read

MAX_SECONDS = 5.0
"""Time limit of one evaluation in seconds, as for a script."""


class Query:
    """A path, or a comparison on the document."""

    __slots__ = ("_path", "_test", "names", "singular", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._path: Find | None = None
        self._test: Test | None = None
        reading, lowering = read(text), Lowering()
        self.singular = reading.path is not None and reading.path.singular_query()
        """Whether it matches one place at most."""
        try:
            if reading.path is not None:
                self._path = lowering.path(reading.path)
            elif reading.condition is not None:
                self._test = lowering.test(reading.condition, top=True)
        except ValueError as error:
            raise JsonPathSyntaxError.at(text, 0, str(error)) from None
        self.names = tuple(dict.fromkeys(lowering.names))
        """Names that it looks up in the document itself, as far as known statically: `a` in `$.a.b`."""

    @property
    def compares(self) -> bool:
        """Whether it is a comparison; its only match is then true or false."""
        return self._test is not None

    def find(self, document: Any, steps: int = MAX_STEPS) -> list[Any]:
        """All matches, in document order."""
        return self.find_within(document, Budget(steps))

    def find_within(self, document: Any, budget: Budget) -> list[Any]:
        """Takes its steps from a budget shared with other queries."""
        run = Run(document, budget.left, MAX_SECONDS)
        try:
            if self._test is not None:
                return [self._test(run, document)]
            return self._path(run, [document]) if self._path is not None else []
        finally:
            budget.left = run.left

    def holds(self, document: Any, steps: int = MAX_STEPS) -> bool:
        """Whether it matches anything, including null; for a comparison, whether it is true."""
        found = self.find(document, steps)
        return found[0] if self._test is not None else bool(found)
