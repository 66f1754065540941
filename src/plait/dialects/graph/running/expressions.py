"""Expressions that compute the output of a `transform`. Imported on first use: not every program has CEL installed."""

from __future__ import annotations

from typing import Any

from plait.conditions.budget import OutOfSteps
from plait.conditions.cel import CelError, Expression
from plait.dialects.graph.definition.transforms import SEES
from plait.kernel.errors import InvalidInput


class Computation:
    def __init__(self, text: str) -> None:
        self._expression = Expression(text, SEES)
        self.reads = self._expression.reads
        self.reads_all = self._expression.reads_all

    def value(self, names: dict[str, Any], node: str) -> Any:
        """Evaluates the expression; raises `InvalidInput` if that fails."""
        try:
            return self._expression.evaluate(names, node)
        except CelError as problem:
            raise InvalidInput("graph.transform_failed", problem.message) from None
        except OutOfSteps:
            raise InvalidInput("graph.transform_failed", "the expression takes too many steps") from None
