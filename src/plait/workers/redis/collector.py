"""Collects results of one namespace from Redis and records them: from the list that all workers share, or from the
lists of individual agents' jobs.

A result is moved to the in-flight list, and removed from there once it is in its run's inbox: an engine that dies in
between leaves it to the next, which starts with that list. A repeated result finds its task settled.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from plait.agents.job import JobResult
from plait.api.claim_id import ClaimId, read
from plait.api.task import TaskFailure, TaskReport
from plait.kernel import values
from plait.kernel.errors import Busy, Conflict, InvalidInput, NotFound, PlaitError, TooLarge, Unavailable
from plait.kernel.failures import describe
from plait.kernel.ids import RunId, TaskToken, run_key
from plait.kernel.queued import HeldTask
from plait.kernel.task_inputs import AGENT

from .job_result import job_result
from .link import Link
from .names import agent_kept
from .offers import Offers
from .signal import Counts, Late, Refused, Signal, is_genuine, judge, parse, parse_place, report_of
from .signing_keys import KeyRing, SigningKeys
from .source import AgentJobs, OfferSource
from .tender import Tender
from .uninterrupted import to_the_end

log = logging.getLogger("plait.redis")

_WAIT = 1.0
_REMEMBERED = 10_000
"""Recently recorded results: repeats of these are not late, but the same."""


class Collector:
    def __init__(
        self,
        namespace: str,
        source: OfferSource,
        link: Link,
        keys: SigningKeys,
        offers: Offers,
        tender: Tender,
        jobs: Callable[[], AgentJobs],
        *,
        require_signed: bool,
        target: str,
    ) -> None:
        """`target`: the list of results in flight."""
        self._namespace = namespace
        self._source = source
        self._link = link
        self._keys = keys
        self._offers = offers
        self._tender = tender
        self._jobs = jobs
        self._require_signed = require_signed
        self._target = target
        self._recorded: OrderedDict[tuple[RunId, str, int | None], None] = OrderedDict()

    async def resume(self) -> None:
        """Records results that were taken but perhaps not recorded."""
        await self.record(await self._link.taken(self._target))

    async def round(self) -> None:
        await to_the_end(self.record(await self._link.take(self._namespace, _WAIT)))

    async def record(self, raws: list[bytes]) -> None:
        if not raws:
            return
        ring = await self._keys.ring(self._namespace)
        found = await asyncio.gather(*(self._judge_one(raw, ring) for raw in raws))
        reports = [report for report in found if report is not None]
        await self._report(reports)
        for report in reports:
            self._end_offer(report.id)
        await self._link.recorded(self._target, raws)
        await self._tender.sweep()

    # -- one result ----------------------------------------------------------------------------------------------

    async def _judge_one(self, raw: bytes, ring: KeyRing) -> TaskReport | None:
        """One that nothing can be done with must keep no other from being recorded, now and whenever it comes again."""
        try:
            return await self._judge(raw, ring)
        except (Unavailable, Busy):
            raise
        except PlaitError as error:
            log.warning("a result was thrown away: %s", error)
        except Exception:
            log.exception("a result was thrown away")
        return None

    async def _judge(self, raw: bytes, ring: KeyRing) -> TaskReport | None:
        """The report for a result, if any."""
        try:
            signal, document = parse(raw)
        except TooLarge as error:
            await self._refuse_unread(raw, error)
            return None
        run_id = run_key(self._namespace, signal.run_id)
        genuine = is_genuine(signal, document, ring, required=self._require_signed)
        verdict = judge(signal, await self._rows(signal, run_id), genuine=genuine)
        match verdict:
            case Refused():
                await self._refuse(verdict, run_id, signal.node_id)
                return None
            case Late():
                return await self._late(signal, run_id)
            case Counts():
                return await self._counts(verdict, signal, run_id)

    async def _rows(self, signal: Signal, run_id: RunId) -> list[HeldTask]:
        return await self._source.held(run_id, TaskToken(signal.token_id) if signal.token_id else None)

    async def _refuse_unread(self, raw: bytes, error: TooLarge) -> None:
        """Too large to be checked, and to be kept: its run is told whose it claims to be."""
        signal = parse_place(raw)
        run_id = run_key(self._namespace, signal.run_id)
        verdict = judge(signal, await self._rows(signal, run_id), genuine=True)
        if not isinstance(verdict, Counts):
            raise error
        await self._refuse(Refused(error.text, verdict.held), run_id, signal.node_id)

    async def _counts(self, verdict: Counts, signal: Signal, run_id: RunId) -> TaskReport | None:
        task = verdict.held.task
        if signal.refuses_envelope:
            await self._refuse_envelope(verdict, signal, run_id)
            return None
        if signal.status == "working":
            await self._keep(verdict, signal)
            return None
        try:
            ref = signal.result_ref.replace("artifact://", "cas://sha256:", 1)
            output: object = await self._source.blob(ref) if ref else signal.result_data
            if task.kind == AGENT:
                output = job_result(signal, output)
        except (NotFound, InvalidInput) as error:
            await self._refuse(Refused(error.text, verdict.held), run_id, signal.node_id)
            return None
        self._remember((run_id, task.token, task.attempt))
        if isinstance(output, JobResult):
            return await self._jobs().ended(verdict.held, output)
        return report_of(signal, verdict.held, output)

    async def _keep(self, verdict: Counts, signal: Signal) -> None:
        """Keeps a journal entry; the worker waits for the answer before it continues."""
        held, entry = verdict.held, signal.journal
        try:
            if entry is None or held.task.kind != AGENT:
                raise InvalidInput("redis.bad_signal", "this job keeps no journal, or there is no entry")
            answer = await self._jobs().keep(held, entry.index, entry.entry, entry.says)
        except (Conflict, NotFound, InvalidInput, TooLarge) as error:
            answer = {"error": {"code": error.code, "message": error.text}}
        await self._answer(signal, answer)

    async def _answer(self, signal: Signal, answer: dict[str, Any]) -> None:
        if signal.job_id:
            await self._link.answer(agent_kept(self._namespace, signal.job_id), values.plain(answer))

    async def _refuse_envelope(self, verdict: Counts, signal: Signal, run_id: RunId) -> None:
        """Rejects an envelope that a worker refused: the task is offered again, in a new one."""
        reason = f"a worker refused the envelope: {signal.error.message}"
        await self._refuse(Refused(reason, verdict.held), run_id, signal.node_id)
        id = ClaimId.of(verdict.held.task, verdict.held.claim or "").text()
        self._end_offer(id)
        try:
            await self._source.release(id, namespace=self._namespace)
        except (Conflict, NotFound):
            log.debug("the claim on %s did not hold any more", verdict.held.task.token)

    def _end_offer(self, id: str) -> None:
        try:
            claim = read(id, self._namespace)
        except NotFound:  # a late result may name any job
            return
        offer = self._offers.find(claim.run_id, claim.token)
        if offer is not None and offer.claim == claim:
            self._tender.settled(offer)

    async def _refuse(self, verdict: Refused, run_id: RunId, node: str) -> None:
        log.warning("a result for run %s was rejected: %s", run_id, verdict.reason)
        held = verdict.held
        if held is None or held.claim is None:
            await self._source.reject_stray(run_id, node, verdict.reason)
            return
        id = ClaimId.of(held.task, held.claim).text()
        await self._source.reject(id, verdict.reason, namespace=self._namespace)

    async def _late(self, signal: Signal, run_id: RunId) -> TaskReport | None:
        """Records a late result, unless it is recorded already; that takes the job's id."""
        if signal.status == "working":
            await self._answer(signal, {"error": {"code": "task.settled", "message": "another has this job by now"}})
            return None
        if not signal.job_id or (run_id, signal.token_id, signal.attempt) in self._recorded:
            return None
        if signal.status == "failed":
            return TaskReport(id=signal.job_id, error=TaskFailure(message=signal.error.message or "failed"))
        return TaskReport(id=signal.job_id, output=signal.result_data)

    def _remember(self, result: tuple[RunId, str, int]) -> None:
        self._recorded[result] = None
        if len(self._recorded) > _REMEMBERED:
            self._recorded.popitem(last=False)

    # -- reporting -----------------------------------------------------------------------------------------------

    async def _report(self, reports: list[TaskReport]) -> None:
        if not reports:
            return
        found = await self._source.report(reports, namespace=self._namespace)
        unfit: list[TaskReport] = []
        for report, refusal in zip(reports, found, strict=True):
            match refusal:
                case None:
                    pass
                case Unavailable() | Busy():
                    raise refusal
                case InvalidInput() | TooLarge() if report.error is None:  # no other attempt would fix that
                    unfit.append(_failed(report, refusal))
                case _:
                    log.info("a result was not accepted: %s", refusal)
        await self._report(unfit)


def _failed(report: TaskReport, refusal: PlaitError) -> TaskReport:
    return TaskReport(id=report.id, error=TaskFailure.of(describe(refusal)), retryable=False)
