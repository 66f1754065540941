"""How a pipeline fails.

InvalidPipeline     it can't run as written; no step ran
PipelineError       a step met data that it can't process, or a limit; the steps before it ran
StepError           the same, raised by the step itself, which does not know its number
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.definitions.flaws import InvalidDefinition, Note
from plait.kernel.errors import InvalidInput


class InvalidPipeline(InvalidDefinition):
    """Not a valid pipeline. The text names the first flaw; `flaws` has them all."""

    def __init__(self, notes: Sequence[Note]) -> None:
        super().__init__("pipeline.invalid", notes)


class StepError(Exception):
    """The step can't continue; the message says why."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class PipelineError(InvalidInput):
    """A step failed, and the pipeline with it."""

    def __init__(self, number: int, step: str, error: StepError) -> None:
        super().__init__("pipeline.failed", f"pipeline failed at step {number} ({step}): {error}")
        self.number = number
        """Counted from 1."""
        self.step = step
        self.retryable = error.retryable
