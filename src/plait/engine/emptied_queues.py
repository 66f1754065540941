"""Requests for tasks that have just emptied their queues: until a new signal, they need not read the store again.

A worker with room for more asks again as soon as it has a task. Most of the time that was the only one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from plait.kernel.queue_watch import QueueWatch
from plait.kernel.queued import ClaimRequest

_AT_MOST = 1_000

_Asked: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...] | None, tuple[str, ...] | None]


class EmptiedQueues:
    def __init__(self, watch: QueueWatch) -> None:
        self._watch = watch
        self._rings = 0
        """The watch's signal count when these were noted."""
        self._asked: set[_Asked] = set()

    def note(self, request: ClaimRequest, rings: int, found: int) -> None:
        """Notes the result of a request; `rings` is the signal count before the store was read."""
        if rings != self._rings or len(self._asked) == _AT_MOST:
            self._asked.clear()
            self._rings = rings
        if found < request.limit:
            self._asked.add(_asked(request))

    def knows(self, request: ClaimRequest) -> bool:
        return self._rings == self._watch.rings and _asked(request) in self._asked


def _asked(request: ClaimRequest) -> _Asked:
    return request.namespace, tuple(request.queues), _listed(request.kinds), _listed(request.handlers)


def _listed(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
