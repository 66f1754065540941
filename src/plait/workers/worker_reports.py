"""Reports of a queue worker: results in batches, retried as often as needed.

Whatever a step returns or raises, something must arrive: a report that the server rejects is replaced by one that says
so. Otherwise the task would wait for its lease, be repeated, and harm the next worker as well.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from msgspec import UNSET, Raw

from plait.api.task import TaskFailure, TaskReport
from plait.kernel import values
from plait.kernel.clock import Clock, sleep
from plait.kernel.errors import PlaitError
from plait.kernel.failures import describe, storable
from plait.kernel.inputs import TaskResult

from .task_source import TaskSource

log = logging.getLogger("plait.worker")

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
_BATCH, _BATCH_BYTES = 500, 1024 * 1024
"""Most results in one report, and most bytes."""
_UNFIT = (400, 413, 422)
"""Statuses for content that is rejected however often it is sent."""
_BROKEN, _TRIES = 500, 5
"""The status of a server that is reachable but fails, and how often the same is sent to it, while other results
wait."""
_SHORT = 1_000


def passes(error: PlaitError) -> bool:
    """Whether the source is unavailable or in trouble, so that a retry may succeed."""
    return error.status == 429 or error.status >= 500


def unfit(error: PlaitError | None) -> bool:
    return error is not None and error.status in _UNFIT


class WorkerReports:
    def __init__(self, source: TaskSource, clock: Clock, namespace: str, label: Callable[[str], str]) -> None:
        self._source = source
        self._clock = clock
        self._namespace = namespace
        self._label = label
        """Returns the label of a claim's task, for people."""

    async def insist(self, batch: list[TaskReport]) -> None:
        """Sends until all are accepted or refused. Raises if this worker may not report at all."""
        pause, broken = FIRST_PAUSE, 0
        while True:
            try:
                await self._send(batch)
                return
            except PlaitError as error:
                if not passes(error):
                    raise
                log.warning("can't report %d results for now: %s", len(batch), error)
                broken += error.status == _BROKEN
            if broken and len(batch) > 1:  # one of them may be what breaks the server
                for report in batch:
                    await self.insist([report])
                return
            if broken == _TRIES:
                log.error("the result of %s is given up: the server fails over it", self._label(batch[0].id))
                return
            await sleep(self._clock, pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _send(self, batch: list[TaskReport]) -> None:
        try:
            found = await self._source.report(batch, namespace=self._namespace)
        except PlaitError as error:
            if not unfit(error):
                raise
            if len(batch) > 1:  # the others must not suffer for one
                for report in batch:
                    await self._send([report])
                return
            found: list[PlaitError | None] = [error]
        for report, refusal in zip(batch, found, strict=True):
            if refusal is not None:
                await self._refused(report, refusal)

    async def _refused(self, report: TaskReport, refusal: PlaitError) -> None:
        instead = _instead(report, refusal) if unfit(refusal) else None
        if instead is None:
            log.warning("the result of %s was not accepted: %s", self._label(report.id), refusal)
        else:
            await self._send([instead])


def report_of(result: TaskResult) -> TaskReport:
    if result.error is None:
        return TaskReport(id=result.token, output=result.output)
    progress = UNSET if result.progress is values.NULL else result.progress
    failure = TaskFailure.of(result.error)
    return TaskReport(id=result.token, error=failure, retryable=result.retryable, progress=progress)


def split(reports: list[TaskReport]) -> tuple[list[TaskReport], list[TaskReport]]:
    """The reports for one request, and the rest."""
    size = 0
    for count, report in enumerate(reports):
        size += len(bytes(report.output)) if isinstance(report.output, Raw) else 0
        if count and (size > _BATCH_BYTES or count == _BATCH):
            return reports[:count], reports[count:]
    return reports, []


def _instead(report: TaskReport, refusal: PlaitError) -> TaskReport | None:
    if report.error is None:  # no other attempt would fix that
        return TaskReport(id=report.id, error=TaskFailure.of(describe(refusal)), retryable=False)
    plain = TaskFailure(message=storable(report.error.message, _SHORT) or "the step failed")
    if report.error == plain and report.progress is UNSET:
        return None
    return TaskReport(id=report.id, error=plain, retryable=report.retryable)
