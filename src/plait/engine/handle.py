"""A handle on one run: the requests of callers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw

from plait.api.agent import AgentRecords
from plait.api.picture import Picture
from plait.api.published import PublishedValue, published_in
from plait.api.timeline import Bar
from plait.kernel import values
from plait.kernel.bundle import Bundle
from plait.kernel.callers import Outcome
from plait.kernel.cause import cause_of
from plait.kernel.errors import Busy, Conflict, Erased, ErrorInfo, InvalidInput, NotFound, PlaitError, RunFailed
from plait.kernel.events import ApprovalClosed, Recorded
from plait.kernel.ids import Epoch, Millis, RunId, Seq, caller_id
from plait.kernel.inputs import AnyInput, Cancel, Loaded, Message, Patch, Purpose, Resume
from plait.kernel.kernel import Kernel
from plait.kernel.loader import recorded
from plait.kernel.past import Past
from plait.kernel.store import InboxRow, Line, LogRow, RunRow, Write
from plait.kernel.values import NULL
from plait.kernel.view import Reason, RunStatus, RunView

from . import answers
from .ask import answer_of, ask, ask_message, refusal_of, unanswered
from .forks import blobs_of, cut
from .run_details import picture_of, waiting_of
from .span import span
from .timeline import bars

T = TypeVar("T")

_BATCH = 500
_NAME = 400
"""Most characters of a person's name."""


class Handle(Generic[T]):
    """One run: wait for its result, inspect it, send to it, rewind it. Methods that use the store are async."""

    def __init__(
        self, kernel: Kernel, run_id: RunId, namespace: str, returns: Any = Any, created: bool = False
    ) -> None:
        self._kernel = kernel
        self._run_id = run_id
        self.id = caller_id(run_id)
        self._namespace = namespace
        self._returns = returns
        self.created = created
        """Whether the call that returned this handle created the run."""

    @property
    def namespace(self) -> str:
        return self._namespace

    def __repr__(self) -> str:
        return f"<Handle of run {self.id}>"

    # -- asking --------------------------------------------------------------------------------------------------

    async def result(self) -> T:
        """Waits for the end and returns the output; raises `RunFailed`, caused by the run's own exception, or
        `RunBlocked` while it can't continue."""
        outcome = await self._kernel.outcome(self._run_id)
        if outcome.blocked is not None or outcome.status != "completed":
            raise await self._unsuccessful(outcome)
        try:
            return values.decode(outcome.output or NULL, self._returns)
        except (msgspec.DecodeError, TypeError, ValueError) as error:
            raise Conflict(
                "kernel.output_misfit",
                f"the output of run {self.id} does not fit the type of its workflow",
                why=str(error),
                fix="correct the return annotation; the output itself is in `handle.row()`",
            ) from None

    async def _unsuccessful(self, outcome: Outcome) -> PlaitError:
        bundle = self._kernel.loader.bundle((await self.row()).dialect)
        if outcome.blocked is not None:
            return bundle.blocked(self.id, outcome.blocked)
        error = outcome.error or ErrorInfo("kernel.failed", "it failed")
        failed = RunFailed(self.id, outcome.status, error, cause_of(error).text)
        failed.__cause__ = bundle.failure(error)
        return failed

    async def row(self) -> RunRow:
        """The current row of the run."""
        self._kernel.must_live()
        found = await self._kernel.store.run(self._run_id)
        if found is None:
            raise NotFound("kernel.no_run", f"there is no run {self.id}", fix="`plait runs` lists them")
        return found

    async def readable(self) -> RunRow:
        """The row of the run; raises `Erased` if its values are gone."""
        found = await self.row()
        if found.erased_at is not None:
            raise Erased.since(found.erased_at, f"the values of run {self.id} were erased")
        return found

    async def status(self) -> RunStatus:
        """`running`, `completed`, `failed` or `cancelled`."""
        return (await self.row()).status

    async def picture(self, at: int | None = None) -> Picture:
        """Everything a page shows of the run: now, or after event number `at`."""
        return await picture_of(self._kernel, await self.row(), at)

    async def view(self, at: int | None = None) -> RunView:
        """The run's operations, their outcomes, and how they depend on each other."""
        return (await self.picture(at)).view

    async def waiting(self) -> list[Reason]:
        """Why the run is not moving, in words. Empty if it has ended."""
        return await waiting_of(self._kernel, await self.row())

    async def events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The run's events in order, after number `after`."""
        await self.row()
        return await recorded(self._kernel.store, self._run_id, after, limit)

    async def follow(self, after: int = 0) -> AsyncIterator[list[Recorded]]:
        """Events as they are recorded, each once and in order, whichever engine owns the run. Stops once the run has
        ended and all its events were returned; call it again after a reopen."""
        with self._kernel.subscriptions.run(self._run_id) as bell:
            while True:
                bell.clear()
                ended = (await self.row()).status != "running"  # read first: the final event is in the log by then
                while found := await recorded(self._kernel.store, self._run_id, after, _BATCH):
                    after = found[-1].seq
                    yield found
                if ended:
                    return
                await bell.wait()

    async def timeline(self) -> list[Bar]:
        """When each operation ran, with its attempts."""
        view = await self.view()
        return bars(view.nodes, await self.events(), self._kernel.clock.now())

    async def logs(self, node: str | None = None, after: int = 0, limit: int = 1_000) -> list[Line]:
        """Log lines of the run's tasks in order, after line `after`."""
        await self.row()
        return await self._kernel.store.lines(self._run_id, node, after, limit)

    async def agents(self) -> AgentRecords:
        """What agents did in the run: each attempt, turn by turn."""
        from plait.agents.records import agent_records  # loaded on demand: most programs don't use it

        await self.readable()
        return agent_records(self._run_id, await self.events())

    # -- telling -------------------------------------------------------------------------------------------------

    async def message(self, name: str, body: Any = None, id: str | None = None) -> str:
        """Sends a message; durable when this returns. The same `id` twice is one message. Returns its id."""
        row = await self.readable()
        if row.status != "running" and not self._kernel.loader.bundle(row.dialect).hears_after_end:
            taken = None if id is None else await self._kernel.store.reply(self._run_id, id)
            if id is not None and taken is not None and refusal_of(taken) is None:
                return id  # sent again because the answer was lost
            raise Conflict("RUN_FINISHED", f"run {self.id} has {row.status}", why="an ended run takes no messages")
        message = self._message(row, name, body, id)
        await self._kernel.send(self._run_id, message, message.id, queued=row.queued)
        return message.id

    async def ask(self, name: str, body: Any = None, id: str | None = None, *, wait: float | None = None) -> Any:
        """Sends a message and waits for the run's answer, which may take long; None if its dialect gives none. The same
        `id` twice is one message with the same answer, so a caller may stop waiting and ask again. Raises the run's
        refusal, an error if it ended without an answer, or TimeoutError `wait` seconds after the message is durable."""
        return await self._asked(await self.readable(), name, body, id, wait, "message")

    async def _asked(
        self, row: RunRow, name: str, body: Any, id: str | None, wait: float | None, purpose: Purpose
    ) -> Any:
        if row.status != "running":
            taken = None if id is None else await self._kernel.store.reply(self._run_id, id)
            if taken is None:
                raise unanswered(self._run_id, row.status)
            return answer_of(taken)
        message = self._message(row, name, body, id, asks=True, purpose=purpose)
        return await ask_message(self._kernel, self._run_id, message, wait, queued=row.queued)

    async def query(self, name: str, argument: Any = None) -> Any:
        """The answer of the run's code to a query; also after its end. Changes nothing, and is not logged."""
        return await answers.query(self._kernel, await self.readable(), name, argument)

    async def update(self, name: str, body: Any = None, id: str | None = None, *, wait: float | None = None) -> Any:
        """Sends an update to the run's code and waits for its answer, like `ask`; the same `id` returns the first one.
        An update rejected by the run's validator raises `InvalidInput`, and is not logged."""
        row = await self.readable()
        answers.answering(self._kernel, row, "updates")
        if row.blocked is not None:
            raise Conflict(row.blocked.code, f"run {self.id} is blocked", why=row.blocked.message)
        return await self._asked(row, name, body, id, wait, "update")

    async def published(self, key: str, default: Any = None) -> Any:
        """The last value that the run has published under this key."""
        found = await answers.published(self._kernel, await self.readable(), key)
        return default if found is None else values.decode(found)

    async def stream(self, key: str, after: int = 0) -> AsyncIterator[PublishedValue]:
        """The values that the run publishes under this key, in order, after event number `after`, until it has ended. A
        run that compacts old events, as a long loop does, loses old values with them."""
        answers.answering(self._kernel, await self.readable(), "published values")
        async for batch in self.follow(after):
            for value in published_in(batch, key):
                yield value

    def _message(
        self,
        row: RunRow,
        name: str,
        body: Any,
        id: str | None,
        *,
        asks: bool = False,
        purpose: Purpose = "message",
    ) -> Message:
        kernel = self._kernel
        if row.full:
            limit = kernel.limits.max_queued_messages
            raise Busy("kernel.queue_full", f"{limit:,} messages wait for run {self.id}", fix="send again later")
        key = _message_id(id) if id is not None else kernel.ids.key()
        if not values.text("the message's name", name):
            raise InvalidInput("value.bad_text", "the message has no name", fix="name what the run listens for")
        sent = values.encode(body, max_bytes=kernel.limits.max_payload)
        return Message(key, name, sent, kernel.clock.now(), asks, purpose)

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        """Cancels the run. With `compensate`, its steps are compensated first. An ended run stays as it is."""
        row = await self.readable()
        cancel = Cancel(values.text("the reason", reason, max_length=10_000), compensate)
        await ask(self._kernel, self._run_id, cancel, queued=row.queued)

    async def retry(self, at: str | None = None, *, scope: str = "", deadline: float | timedelta | None = None) -> None:
        """Continues a failed or blocked run; with `at`, from that operation on (see `rewind`). If its dialect has a
        choice, `scope` says how much runs again; `deadline` is the time limit from now on."""
        if at is not None:
            await self.rewind(at)
            return
        await self._started()
        due = None if deadline is None else Millis(self._kernel.clock.now() + span(deadline))
        await self._ask(Resume("retry", scope=values.text("the scope", scope), deadline=due))

    recover = retry

    async def rewind(self, at: str | None = None) -> None:
        """Rewinds the run to before the operation `at` (default: its start). Nothing outside is compensated."""
        row = await self._started()
        run = await self._kernel.peek(row)
        upto = self._kernel.loader.bundle(row.dialect).rewind_point(run.machine, at)
        past = await self._kernel.loader.load(row, Epoch(0), upto)
        await self._ask(Resume("rewind", at=at, state=past.machine.snapshot()))

    async def compensate(self) -> None:
        """Compensates the steps of an ended run, newest first."""
        await self._started()
        await self._ask(Resume("compensate"))

    async def patch(self, operations: list[dict[str, Any]], *, by: str = "", base: int | None = None) -> int | None:
        """Changes the definition of this run, if its dialect supports it. `by` is recorded in the run's events;
        with `base`, the patch applies only at that revision. Returns the new revision; None if no engine has
        answered yet."""
        await self._started()
        values.encode(operations, max_bytes=self._kernel.limits.max_payload)
        revision = await self._ask(Patch(operations, values.text("`by`", by, max_length=_NAME), base))
        return None if revision is None else values.decode(revision, int)

    async def fork(
        self,
        at: int | str | None = None,
        edits: Mapping[str, Any] | None = None,
        id: str | None = None,
        *,
        labels: Mapping[str, str] | None = None,
    ) -> Handle[T]:
        """A new run with the same past up to `at`, an event number or the path of an operation that is then
        done again. `edits` gives other results to operations that completed before. Its labels are those of this run,
        if there are no others."""
        row = await self._started()
        kernel = self._kernel
        source = await kernel.loader.load(row, Epoch(0))
        bundle = kernel.loader.bundle(row.dialect)
        upto = await self._whole(bundle, bundle.fork(source.machine, at, {}).upto)
        past = await kernel.loader.load(row, Epoch(0), upto)
        if past.state.status != "running" or past.state.rolling_back:
            raise InvalidInput("kernel.bad_fork", f"the run had ended at event {upto}", fix="use an earlier place")
        plan = bundle.fork(past.machine, upto, edits or {})
        rows = cut(await kernel.store.log(self._run_id, upto=Seq(plan.upto)), plan.upto)
        new = kernel.new_row(
            row.namespace, id, row.dialect, row.definition, row.version, row.labels if labels is None else dict(labels)
        )
        new.past = Past(source=row.id, shared=plan.upto)
        # It requests approvals itself: people voted on those of the other run
        events = [*(ApprovalClosed(token, "withdrawn") for token in past.state.approvals), plan.event]
        event = LogRow(Seq(plan.upto + 1), len(events), kernel.clock.now(), values.plain(events))
        wake = InboxRow(new.id, new.shard, "~fork", values.plain(Loaded("fork")), new.created_at)
        begins = past.snapshots.beginning()
        write = Write(new.id, new.shard, None, create=new, log=event, copies=rows, inbox=[wake], snapshot=begins)
        write.shared = blobs_of(rows)
        if await kernel.append(write) != "ok":
            await self.readable()  # else it was removed meanwhile, together with large values
            raise Conflict("kernel.run_exists", f"run {caller_id(new.id)} exists", fix="give the fork another id")
        return Handle(kernel, new.id, row.namespace, self._returns)

    async def _whole(self, bundle: Bundle, upto: int) -> int:
        """The last of the events that must not be separated from this one."""
        events = await recorded(self._kernel.store, self._run_id, max(0, upto - 1), _BATCH)
        for event, following in pairwise(events):
            if not bundle.inseparable(event, following):
                break
            upto = following.seq
        return upto

    async def _started(self) -> RunRow:
        """The row of the run; raises `Conflict` if it waits on a queue and has not started."""
        row = await self.readable()
        if row.queued and await self._kernel.store.run_queues.place(self._run_id) is not None:
            why = "it waits on a queue" if row.waiting is None else f"it waits: {row.waiting.text}"
            raise Conflict("kernel.not_started", f"run {self.id} has not started", why=why, fix="wait, or cancel it")
        return row

    async def _ask(self, input: AnyInput) -> Raw | None:
        return await ask(self._kernel, self._run_id, input)


def _message_id(id: str) -> str:
    if values.text("the message's id", id, max_length=200).startswith("~"):
        raise InvalidInput("value.bad_text", f"the message's id {id!r}", why="`~` is the engine's own", fix="drop it")
    return id
