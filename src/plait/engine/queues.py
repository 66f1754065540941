"""`engine.queues`: the task protocol for workers in this process, on the same database, or behind a server.

A result is accepted if its claim is valid: one commit deletes the row and puts the result into the run's inbox,
whichever process owns the run. A result whose claim is lost still goes to the run, which records it as late; the worker
gets a `Conflict`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw

from plait.api.claim_id import ClaimId, read
from plait.api.task import DEFAULT_LEASE, PROTOCOL, QueueTask, TaskLine, TaskReport, check_protocol
from plait.kernel import values
from plait.kernel.errors import Conflict, ErrorInfo, InvalidInput, NotFound, PlaitError, Unavailable
from plait.kernel.ids import DEFAULT_NAMESPACE, Millis, RunId, TaskToken, shard_of
from plait.kernel.inputs import KeepEntry, Rejected, Suspend, TaskResult
from plait.kernel.journal import AnyWait
from plait.kernel.kernel import Kernel
from plait.kernel.queued import ClaimRequest, HeldTask
from plait.kernel.store import InboxRow, LineLevel, Write
from plait.kernel.task_inputs import AGENT
from plait.workers.common import CommonExecutors

from .ask import ask
from .emptied_queues import EmptiedQueues
from .lost_claims import ClaimChecks, lease_lost, lost
from .queue_control import QueueControl
from .seen_workers import NOTE_EVERY, SeenWorkers
from .task_claims import TaskClaims
from .task_journals import read_as, told_by

if TYPE_CHECKING:
    from .agent_attempts import AgentAttempts

_LIMITED_WAIT = 0.25
"""Seconds between polls of a queue with limits: a rate limit frees slots by itself."""
_LATE = -1
"""Opening of a result that must not count: no row has it."""


class Queues(QueueControl):
    def __init__(
        self,
        kernel: Kernel,
        executors: CommonExecutors,
        kinds: Collection[str],
        agents: Callable[[], AgentAttempts],
    ) -> None:
        super().__init__(kernel)
        self._agents = agents
        """Checks what agents' attempts write; loaded with the first."""
        self._taking = TaskClaims(kernel, executors)
        self._kinds = kinds
        """Kinds that this engine has executors for."""
        self._claims = ClaimChecks(kernel)
        self._seen = SeenWorkers(kernel.store, kernel.clock)
        self._emptied = EmptiedQueues(kernel.queue_watch)
        self._slots_matter = False
        """The queues polled last have limits: the end of a task makes room for another."""

    # -- claiming ------------------------------------------------------------------------------------------------

    async def claim(
        self,
        worker: str,
        queues: Sequence[str],
        *,
        namespace: str = DEFAULT_NAMESPACE,
        limit: int = 1,
        lease_ms: int = DEFAULT_LEASE,
        wait_ms: int = 0,
        kinds: Sequence[str] | None = None,
        handlers: Sequence[str] | None = None,
        protocol: int = PROTOCOL,
    ) -> list[QueueTask]:
        """Claims up to `limit` tasks, each until its lease expires; waits for the first."""
        self._kernel.must_live()
        self._check(protocol, kinds)
        request = ClaimRequest(
            claim=self._kernel.ids.key(),
            namespace=namespace,
            queues=list(dict.fromkeys(queues)),
            worker=worker,
            limit=limit,
            lease=Millis(lease_ms),
            kinds=kinds,
            handlers=handlers,
        )
        return await self._taking.shaped(await self._wait_for(request, wait_ms / 1000))

    async def _wait_for(self, request: ClaimRequest, seconds: float) -> list[HeldTask]:
        clock, store = self._kernel.clock, self._kernel.store
        until = clock.monotonic() + seconds
        with self._kernel.queue_watch.bell() as bell:
            if seconds and self._emptied.knows(request):
                await bell.wait(min(seconds, NOTE_EVERY))
                self._kernel.must_live()
            while True:
                await self._seen.note(request.namespace, request.queues, request.worker)
                rings = self._kernel.queue_watch.rings
                found = await self._taking.take(request)
                async with self._taking.or_freed(found):
                    limited = self._slots_matter = await store.queues.limited(request.namespace, request.queues)
                if not limited:  # otherwise tasks may be waiting for a slot
                    self._emptied.note(request, rings, len(found))
                left = until - clock.monotonic()
                if found or left <= 0:
                    return found
                await bell.wait(min(left, _LIMITED_WAIT if limited else NOTE_EVERY))
                self._kernel.must_live()

    async def claim_matching(
        self,
        worker: str,
        matches: Callable[[str], bool],
        *,
        namespace: str = DEFAULT_NAMESPACE,
        limit: int = 1,
        lease_ms: int = DEFAULT_LEASE,
        wait_ms: int = 0,
    ) -> list[QueueTask]:
        """Like `claim`, for a worker that gives its queues by a pattern: matches those with a free task."""
        clock = self._kernel.clock
        until = clock.monotonic() + wait_ms / 1000
        with self._kernel.queue_watch.bell() as bell:
            while True:
                free = await self.unclaimed()
                queues = [name for place, name in free if place == namespace and matches(name)]
                if queues:
                    found = await self.claim(worker, queues, namespace=namespace, limit=limit, lease_ms=lease_ms)
                    if found:
                        return found
                left = until - clock.monotonic()
                if left <= 0:
                    return []
                await bell.wait(min(left, _LIMITED_WAIT if queues else NOTE_EVERY))

    async def claim_for_engine(self, worker: str, code: Sequence[str], *, limit: int, lease_ms: int) -> list[QueueTask]:
        """Claims tasks of all namespaces left to workers for lack of code that this engine has; does not wait."""
        self._kernel.must_live()
        request = ClaimRequest(
            claim=self._kernel.ids.key(),
            namespace="",
            queues=(),
            worker=worker,
            limit=limit,
            lease=Millis(lease_ms),
            code=code,
        )
        return await self._taking.shaped(await self._taking.take(request))

    async def give_back(self, tasks: Sequence[QueueTask]) -> None:
        """Releases claims that can no longer be delivered to their worker."""
        for task in tasks:
            with contextlib.suppress(Conflict, NotFound):  # lost by now: the others must still be released
                await self.release(task.id, namespace=task.namespace)

    def _check(self, protocol: int, kinds: Sequence[str] | None) -> None:
        check_protocol(protocol)
        unknown = sorted(set(kinds or ()) - set(self._kinds))
        if unknown:
            raise InvalidInput(
                "task.unknown_kind",
                f"there are no tasks of the kind `{unknown[0][:80]}`",
                fix=f"use one of {', '.join(sorted(self._kinds))}",
            )

    # -- reporting -----------------------------------------------------------------------------------------------

    async def heartbeat(
        self,
        id: str,
        progress: Raw | None = None,
        *,
        lines: Sequence[TaskLine] = (),
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> bool:
        """Renews the lease, and stores the attempt's progress and lines; False: the result is no longer needed.
        `queues`: those that the worker may serve, if not all."""
        self._kernel.must_live()
        claim = read(id, namespace)
        await self._claims.must_serve(claim, queues)
        if await self._kernel.store.queues.beat(claim.held, progress):
            if lines and (held := await self._claims.row(claim)) is not None:
                said: list[tuple[LineLevel, str]] = [(line.level, line.text) for line in lines]
                self._kernel.task_logs.keep(claim.run_id, held.task.node or claim.token, claim.attempt, said)
            return True
        await self._claims.must_have_been(claim, queues)
        if (other := await self._claims.row(claim)) is not None:
            raise lease_lost(other)
        return False

    async def complete(
        self,
        id: str,
        output: object,
        *,
        memo: bool = False,
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> None:
        """Reports success; durable when this returns. `memo`: the worker had the output stored."""
        claim = read(id, namespace)
        raw = values.encode(output, max_bytes=self._kernel.limits.max_payload)
        result = TaskResult(claim.token, claim.attempt, raw, opening=claim.opening, memo=memo)
        await self._report(claim, result, queues)

    async def fail(
        self,
        id: str,
        error: ErrorInfo,
        *,
        retryable: bool = True,
        progress: Raw | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> None:
        """Reports a failed attempt; its policy decides whether and when it is retried."""
        claim = read(id, namespace)
        result = TaskResult(
            claim.token,
            claim.attempt,
            error=error,
            retryable=retryable,
            progress=values.NULL if progress is None else progress,
            opening=claim.opening,
        )
        await self._report(claim, result, queues)

    async def keep(
        self,
        id: str,
        index: int,
        entry: Any,
        *,
        says: str = "",
        events: Sequence[Any] = (),
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> None:
        """Adds to the journal of an attempt; in the run's log when this returns. Refused if the claim is not valid."""
        self._kernel.must_live()
        claim = read(id, namespace)
        await self._claims.must_have_been(claim, queues)
        raw = values.encode(entry, max_bytes=self._kernel.limits.max_payload)
        told = told_by(events, claim)
        held = await self._claims.must_hold(claim)
        _must_be_agent(held)
        await self._agents().keeping(claim, raw)
        wanted = KeepEntry(claim.token, claim.attempt, index, raw, says, told, claim.opening)
        key = f"~journal:{claim.opening}:{claim.claim}:{index}"  # repeating an entry has no effect
        if await ask(self._kernel, claim.run_id, wanted, key) is None:
            raise Unavailable("kernel.no_owner", "no engine has answered yet", fix="send the same entry again")
        await self._agents().kept(held, raw)

    async def suspend(
        self,
        id: str,
        wait: Any,
        *,
        says: str = "",
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> None:
        """Suspends the attempt and removes its row; durable when this returns."""
        claim = read(id, namespace)
        found = Suspend(claim.token, claim.attempt, read_as(wait, AnyWait, "wait"), says, claim.opening)
        await self._claims.must_serve(claim, queues)
        held = await self._claims.row(claim)
        if held is not None and ClaimId.of(held.task, held.claim or "") == claim:
            _must_be_agent(held)
            await self._agents().check_wait(held, found.wait)
        write = self._write(claim, found, f"~task:{claim.opening}:{claim.claim}:suspended")
        write.finished = claim.held
        if await self._kernel.append(write) == "conflict":
            await self._claims.must_have_been(claim, queues)
            raise lost(await self._claims.row(claim))

    async def report(
        self,
        reports: Sequence[TaskReport],
        *,
        namespace: str = DEFAULT_NAMESPACE,
        queues: Collection[str] | None = None,
    ) -> list[PlaitError | None]:
        """Reports many results in one commit; each is accepted, or refused with its own error."""
        found = await asyncio.gather(
            *(self._report_one(each, namespace, queues) for each in reports), return_exceptions=True
        )
        return [_refusal(each) for each in found]

    async def _report_one(self, report: TaskReport, namespace: str, queues: Collection[str] | None) -> None:
        if report.error is None:
            await self.complete(report.id, report.output, memo=report.memo, namespace=namespace, queues=queues)
            return
        await self.fail(
            report.id,
            report.error.info(),
            retryable=report.retryable,
            progress=None if report.progress is UNSET else values.encode(report.progress),
            namespace=namespace,
            queues=queues,
        )

    async def release(
        self, id: str, *, namespace: str = DEFAULT_NAMESPACE, queues: Collection[str] | None = None
    ) -> None:
        """Releases the task at once: another worker continues the same attempt."""
        self._kernel.must_live()
        claim = read(id, namespace)
        await self._claims.must_serve(claim, queues)
        if not await self._kernel.store.queues.release(claim.held):
            await self._claims.must_have_been(claim, queues)
            raise lost(await self._claims.row(claim))
        self._kernel.queue_watch.ring()

    # -- for the hot path ----------------------------------------------------------------------------------------

    async def unclaimed(self) -> list[tuple[str, str]]:
        """Queues with free tasks, as (namespace, name)."""
        self._kernel.must_live()
        return await self._kernel.store.queues.unclaimed()

    async def held(self, run_id: RunId, token: TaskToken | None) -> list[HeldTask]:
        """The queued tasks of a run, or one of them."""
        self._kernel.must_live()
        return await self._kernel.store.queues.held(run_id, token)

    async def blob(self, reference: str) -> Raw:
        """A value by its hash, `cas://sha256:…`."""
        digest = reference.removeprefix("cas://sha256:")
        if digest == reference:
            raise InvalidInput("task.bad_reference", f"result_ref {reference[:100]!r}", fix="write cas://sha256:…")
        return Raw(await self._kernel.store.blob(digest))

    async def reject(self, id: str, reason: str, *, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Records that a forged, damaged or foreign message came for this task; the third makes it a dead letter."""
        claim = read(id, namespace)
        await self._send_rejected(claim.run_id, Rejected(reason, claim.token, claim.opening))

    async def reject_stray(self, run_id: RunId, node: str, reason: str) -> None:
        """Like `reject`, for a message that matches no task of the run."""
        if await self._kernel.store.run(run_id) is not None:
            await self._send_rejected(run_id, Rejected(reason, node=node))

    async def _send_rejected(self, run_id: RunId, rejected: Rejected) -> None:
        await self._kernel.send(run_id, rejected, f"~rejected:{self._kernel.ids.key()}")

    async def _report(self, claim: ClaimId, result: TaskResult, queues: Collection[str] | None) -> None:
        await self._claims.must_serve(claim, queues)
        how = "done" if result.error is None else "failed"
        key = f"~task:{claim.opening}:{claim.claim}:{how}"  # repeating a report has no effect
        write = self._write(claim, result, key)
        write.finished = claim.held
        if await self._kernel.append(write) == "conflict":
            await self._late(claim, result, queues)
        elif self._slots_matter:
            self._kernel.queue_watch.ring()

    async def _late(self, claim: ClaimId, result: TaskResult, queues: Collection[str] | None) -> None:
        """Records a result that came too late to count: the log must have everything that happened."""
        await self._claims.must_have_been(claim, queues)
        late = msgspec.structs.replace(result, opening=_LATE)
        await self._kernel.append(self._write(claim, late, f"~late:{claim.opening}:{claim.claim}"))
        raise lost(await self._claims.row(claim))

    def _write(self, claim: ClaimId, result: TaskResult | Suspend, key: str) -> Write:
        shard = shard_of(claim.run_id)
        row = InboxRow(claim.run_id, shard, key, values.plain(result), self._kernel.clock.now())
        return Write(claim.run_id, shard, None, inbox=[row])


def _must_be_agent(held: HeldTask) -> None:
    """The journal of another kind would be given to nobody, nor would the answer that an attempt waited for."""
    if held.task.kind != AGENT:
        raise InvalidInput(
            "task.bad_entry",
            f"a task of the kind `{held.task.kind}` has no journal, and can't be suspended",
            why="only those of the kind `agent` go on behind what they have kept",
            fix="complete it, fail it or release it; the progress of a heartbeat is given to the next attempt",
        )


def _refusal(found: BaseException | None) -> PlaitError | None:
    if found is None or isinstance(found, PlaitError):
        return found
    raise found
