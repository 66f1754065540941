"""How and where a step is tried: options as written, checked, and merged with all defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypedDict

from plait.clusters.names import CLUSTERS, ClusterName, is_cluster
from plait.kernel.errors import InvalidInput
from plait.kernel.queued import QUEUE_RULE, is_queue
from plait.kernel.retry import Retry
from plait.kernel.task import Policy

from .errors import WorkflowCodeError

Sec = float | timedelta

DEFAULT_TIMEOUT = 30.0
MAX_TIMEOUT = 30 * 86_400.0


class StepOptions(TypedDict, total=False):
    """How a step is tried; given to `@step`, `ctx.step`, or partly to `@workflow`."""

    retry: Retry
    max_attempts: int
    timeout: Sec | None
    retry_on_timeout: bool
    rollback: Callable[..., Any]
    queue: str
    heartbeat_timeout: Sec
    isolate: bool
    on: ClusterName


_PLAIN_OPTIONS = ("retry", "retry_on_timeout", "rollback", "isolate")


@dataclass(frozen=True)
class Options:
    """Options merged from defaults, `@workflow`, `@step` and the call, in that order."""

    retry: Retry = Retry()
    timeout: float | None = DEFAULT_TIMEOUT
    retry_on_timeout: bool = False
    rollback: Callable[..., Any] | None = None
    heartbeat: float | None = None
    queue: str | None = None
    isolate: bool = False
    """Whether to run in a process of its own."""
    on: ClusterName | None = None
    """The cluster to run on, if any."""

    policy: Policy = field(init=False, compare=False)
    """The options that the kernel knows, built once because every step needs them."""

    def __post_init__(self) -> None:
        policy = Policy(self.retry, self.timeout, self.retry_on_timeout, self.heartbeat)
        object.__setattr__(self, "policy", policy)

    def under(self, given: StepOptions) -> Options:
        """These options, overridden by those given."""
        if not given:
            return self
        unknown = set(given) - StepOptions.__optional_keys__
        if unknown:
            raise bad_option(
                f"unknown option `{sorted(unknown)[0]}`", f"use {', '.join(sorted(StepOptions.__optional_keys__))}"
            )
        changes: dict[str, Any] = {k: v for k, v in given.items() if k in _PLAIN_OPTIONS}
        if "retry" in changes and not isinstance(changes["retry"], Retry):
            raise bad_option(f"retry={changes['retry']!r}", "use Retry(max_attempts=3, ...)")
        if "rollback" in changes and not callable(changes["rollback"]):
            raise bad_option(f"rollback={changes['rollback']!r}", "pass a function that takes an Undo")
        if "queue" in given:
            changes["queue"] = _queue(given["queue"])
        if "on" in given:
            changes["on"] = _cluster(given["on"])
        if "max_attempts" in given:
            changes["retry"] = _attempts(changes.get("retry", self.retry), given["max_attempts"])
        if "timeout" in given:
            timeout = given["timeout"]
            changes["timeout"] = None if timeout is None else duration("timeout", timeout, MAX_TIMEOUT)
        if "heartbeat_timeout" in given:
            changes["heartbeat"] = duration("heartbeat_timeout", given["heartbeat_timeout"], MAX_TIMEOUT)
        found = replace(self, **changes)
        if found.on is not None and found.isolate:
            raise bad_option(f"isolate=True with on={found.on!r}", "leave one out: a cluster has processes of its own")
        return found


def bad_option(what: str, fix: str) -> WorkflowCodeError:
    return WorkflowCodeError("BAD_OPTION", what, fix=fix)


def _attempts(retry: Retry, count: int) -> Retry:
    if type(count) is not int:
        raise bad_option(f"max_attempts={count!r}", "use a whole number, 1 or more")
    try:
        return replace(retry, max_attempts=count)
    except InvalidInput as error:
        raise bad_option(error.what, error.fix) from None


def _queue(name: object) -> str:
    if not isinstance(name, str) or not is_queue(name):
        raise bad_option(f"queue={name!r}", QUEUE_RULE)
    return name


def _cluster(name: object) -> ClusterName:
    if not is_cluster(name):
        raise bad_option(f"on={name!r}", f"use one of {', '.join(CLUSTERS)}")
    return name


def seconds(value: Sec) -> float:
    return value.total_seconds() if isinstance(value, timedelta) else float(value)


def duration(name: str, value: Sec, longest: float) -> float:
    try:
        found = seconds(value)
    except (TypeError, ValueError):
        raise bad_option(f"{name}={value!r}", "use seconds or a timedelta") from None
    if not 0 < found <= longest:
        raise bad_option(f"{name}={found:g}", f"use more than 0 and at most {longest:g} seconds")
    return found
