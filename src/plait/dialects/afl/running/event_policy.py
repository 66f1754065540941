"""The retry policy of an AFL event: the mixins `Timeout` and `Retry` of its step, over its handler's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from plait.kernel.retry import MAX_ATTEMPTS, MAX_CAP, Retry
from plait.kernel.task import Policy

from .arguments import mixins_of
from .limits import EVENT_TIMEOUT
from .nodes import StepNode
from .state import Binding

_SECONDS: Final = {"hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "timeout_seconds": 1.0, "ms": 0.001}


def policy_of(node: StepNode, binding: Binding) -> Policy:
    timeout, attempts, first = binding.timeout, binding.max_attempts, binding.first
    for mixin, _ in mixins_of(node):  # the call's come last, and win
        given = _given(node, mixin.alias, [arg.name for arg in mixin.args])
        match mixin.target.rpartition(".")[2]:
            case "Timeout":
                timeout = _timeout(given) or timeout
            case "Retry" | "RetryPolicy":
                attempts = _attempts(given) or attempts
                found = _first(given)
                first = first if found is None else found
            case _:
                pass
    attempts = max(1, min(attempts, MAX_ATTEMPTS))
    first = max(0.0, min(first, MAX_CAP))
    retry = Retry(max_attempts=attempts, first=first, factor=binding.factor, cap=max(30.0, first))
    return Policy(retry=retry, timeout=timeout or EVENT_TIMEOUT, retry_on_timeout=attempts > 1)


def _given(node: StepNode, alias: str, names: list[str]) -> Mapping[str, Any]:
    params = node.record.params
    if alias:
        found = params.get(alias)
        return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    return {name: params[name] for name in names if name in params}


def _number(given: Mapping[str, Any], *names: str) -> float | None:
    for name in names:
        found = given.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
    return None


def _timeout(given: Mapping[str, Any]) -> float:
    known = {**_SECONDS, "timeoutSeconds": 1.0}
    return sum((_number(given, name) or 0.0) * factor for name, factor in known.items())


def _attempts(given: Mapping[str, Any]) -> int:
    attempts = _number(given, "max_attempts", "maxAttempts")
    if attempts is not None:
        return int(attempts)
    retries = _number(given, "max_retries", "maxRetries")
    return 0 if retries is None else int(retries) + 1


def _first(given: Mapping[str, Any]) -> float | None:
    millis = _number(given, "backoff_ms", "backoffMs")
    return millis / 1000 if millis is not None else _number(given, "backoff_seconds", "backoffSeconds")
