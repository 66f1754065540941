"""Why an attempt of an agent ends without an answer."""

from __future__ import annotations

from plait.kernel.errors import ErrorInfo
from plait.kernel.task import TaskError

from .model import ModelError


class AgentFailure(Exception):
    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
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
