"""Options for queueing a run, as given by callers and definitions: checked, and compared with the queue's limits.

They are the same for direct starts, children and schedules, so each option means one thing and a wrong one gets one
answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, TypeVar, cast

from . import values
from .admission import EVERY_QUEUE, QueueSettings
from .counted import counted
from .errors import Busy, InvalidInput
from .ids import Millis
from .queued import QUEUE_RULE, is_queue
from .run_queues import ChildQueueing, QueuedRun, Queueing, RunQueues

Q = TypeVar("Q", bound=ChildQueueing)

_LONGEST = 100 * 366 * 86_400.0
_PRIORITY = 2**31 - 1
_KEY = 400
"""Most characters of a partition key or a dedup id."""
_RETRY_AFTER = 5


def place_of(namespace: str, given: ChildQueueing, deadline: Millis | None) -> QueuedRun | None:
    """The run's place on its queue; None: it starts at once."""
    queue, dedup_id = given.get("queue"), given.get("dedup_id")
    delay, debounce = _span("delay", given.get("delay")), _span("debounce", cast("Queueing", given).get("debounce"))
    if queue is None:
        _must_have_queue(given)
        return None
    if not isinstance(queue, str) or not is_queue(queue):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("queue.bad_name", f"queue={str(queue)[:80]!r}", fix=QUEUE_RULE)
    if debounce and dedup_id is None:
        raise _bad("debounce without `dedup_id`", "give starts that are one the same `dedup_id`")
    if debounce and delay:
        raise _bad("both `delay` and `debounce`", "use one of them")
    return QueuedRun(
        namespace=namespace,
        queue=queue,
        partition=partition_of(given),
        priority=priority_of(given),
        dedup_id=None if dedup_id is None else _text("dedup_id", dedup_id),
        debounced=bool(debounce),
        delay=debounce or delay,
        deadline=deadline,
    )


def priority_of(given: ChildQueueing) -> int:
    priority = given.get("priority", 0)
    if type(priority) is not int or abs(priority) > _PRIORITY:
        raise _bad(f"priority={priority!r}", "use a whole number; lower goes first")
    return priority


def partition_of(given: ChildQueueing) -> str:
    partition = given.get("partition")
    return "" if partition is None else _text("partition", partition)


def checked(given: Q) -> Q:
    """Returns valid options unchanged; raises for others."""
    place_of("", given, None)
    priority_of(given)
    partition_of(given)
    return given


QUEUEING_FIELDS: Final = ("queue", "priority", "partition", "dedup_id", "delay_ms")
"""Fields by which a definition queues a child, in every dialect."""


def defined(config: Mapping[str, Any]) -> ChildQueueing | None:
    """The queue options in a definition; None if it has none. Not checked."""
    found = {name: config[name] for name in QUEUEING_FIELDS if config.get(name) is not None}
    delay = found.pop("delay_ms", None)
    if delay is not None:
        found["delay"] = delay / 1000 if isinstance(delay, int | float) else delay
    return cast("ChildQueueing", found) if found else None


def as_defined(given: ChildQueueing) -> dict[str, Any]:
    """A program's queue options in the form of a definition; raises if they are invalid."""
    delay = _span("delay", checked(given).get("delay"))
    fields: dict[str, Any] = {**given, "delay": None, "delay_ms": delay or None}
    return {name: value for name, value in fields.items() if value is not None}


def flaw(config: Mapping[str, Any]) -> str:
    """What is wrong with a definition's queue options; empty if nothing."""
    delay = config.get("delay_ms")
    if delay is not None and (type(delay) is not int or delay < 0):
        return f"delay_ms={delay!r}: use milliseconds, a whole number"
    try:
        found = defined(config)
        if found is not None:
            checked(found)
    except InvalidInput as refusal:
        return f"{refusal.what}: {refusal.fix}"
    return ""


async def check_key(queues: RunQueues, place: QueuedRun) -> list[tuple[str, QueueSettings]]:
    """Raises if a partitioned queue gets no key. Returns the limits that apply."""
    found = [(name, await queues.settings(place.namespace, name)) for name in (EVERY_QUEUE, place.queue)]
    limits = [(name, settings) for name, settings in found if settings is not None]
    if not place.partition and any(settings.partitioned for _, settings in limits):
        raise InvalidInput(
            "queue.no_partition",
            f"queue `{place.queue}` is partitioned, and the run has no key",
            why="its limits hold for each key",
            fix="start it with a partition",
        )
    return limits


async def check_limits(queues: RunQueues, place: QueuedRun) -> None:
    """Raises if the backlog of the queue, or of all queues of the namespace together, is full."""
    for name, settings in await check_key(queues, place):
        if settings.max_waiting is not None:
            key = place.partition if settings.partitioned else None
            if await queues.waiting(place.namespace, name, key) >= settings.max_waiting:
                raise _full(name, settings.max_waiting, key)


def _full(name: str, most: int, key: str | None) -> Busy:
    where = "queues of the namespace" if name == EVERY_QUEUE else f"queue `{name}`"
    refusal = Busy(
        "queue.full",
        f"{counted(most, 'run')} {'waits' if most == 1 else 'wait'} on {where}" + (f" for `{key}`" if key else ""),
        why="more are not allowed",
        fix="try again later",
    )
    refusal.retry_after = _RETRY_AFTER
    return refusal


def _must_have_queue(given: ChildQueueing) -> None:
    wanting = [name for name in ("dedup_id", "reject", "delay", "debounce") if given.get(name)]
    if wanting:
        raise _bad(f"`{wanting[0]}` without a queue", "name the queue that the run waits on")


def _span(name: str, given: float | timedelta | None) -> Millis:
    if given is None:
        return Millis(0)
    try:
        seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 <= seconds <= _LONGEST:
        raise _bad(f"{name}={given!r}", "use seconds or a timedelta, of at most 100 years")
    return Millis(round(seconds * 1000))


def _text(name: str, given: str) -> str:
    if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _bad(f"{name}={given!r}", "use text")
    if not values.text(f"`{name}`", given, max_length=_KEY):
        raise _bad(f"{name}={given!r}", "leave it out, or give it some text")
    return given


def _bad(what: str, fix: str) -> InvalidInput:
    return InvalidInput("queue.bad_option", what, fix=fix)
