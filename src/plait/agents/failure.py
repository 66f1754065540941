"""Why an agent's attempt ends without an answer."""

from __future__ import annotations

from typing import Final

from plait.kernel.errors import ErrorInfo
from plait.kernel.failures import storable
from plait.kernel.task import TaskError

from .model import ModelError

_SHOWN: Final = 1_000
"""Characters kept of an error message that was not written for users."""


class AgentFailure(Exception):
    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        self.message = storable(message)
        super().__init__(self.message)
        self.code = code
        self.retryable = retryable

    @property
    def info(self) -> ErrorInfo:
        return ErrorInfo(self.code, self.message, kind="agent")

    def task_error(self) -> TaskError:
        return TaskError(self.message, retryable=self.retryable, code=self.code)


def model_failure(model: str, error: ModelError) -> AgentFailure:
    text = f"model `{model}`: {error.kind.replace('_', ' ')}"
    detail = str(error)
    if detail and detail != error.kind:
        text = f"{text}: {detail[:500]}"
    return AgentFailure(f"agent.model_{error.kind}", text, retryable=error.retryable)


def model_broke(model: str, error: Exception) -> AgentFailure:
    """An adapter raised something other than a `ModelError`."""
    return AgentFailure("agent.model_failed", f"model `{model}` failed: {_named(error)}", retryable=True)


def unforeseen(error: Exception) -> AgentFailure:
    return AgentFailure("agent.failed", _named(error), retryable=getattr(error, "retryable", True) is not False)


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_SHOWN]
