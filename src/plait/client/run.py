"""One run on a server: the calls and the types of `Handle`."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from plait.api.agent import AgentRecords
from plait.api.event import EventPage
from plait.api.log import LogPage
from plait.api.picture import Picture
from plait.api.published import LastPublished, PublishedValue, QueryAnswer, published_in
from plait.api.run import RunDetail, RunRef
from plait.api.run_action import MessageReceipt, PatchedRun, RunState
from plait.api.timeline import Bar, Timeline
from plait.api.transport import Parameters
from plait.errors import ErrorInfo, RunBlocked, RunFailed, Unavailable
from plait.kernel.cause import cause_of
from plait.kernel.events import Recorded
from plait.kernel.ids import Ids
from plait.kernel.store import Line, RunRow
from plait.kernel.view import Reason, RunStatus, RunView

from .event_stream import EventStream
from .records import detail_row, line_of, picture_of
from .transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_PAGE = 5_000
_BLOCKED_CHECK = 1.0
"""Seconds between checks whether a run is blocked, because no event tells that."""
_WAIT_MS = 10_000
"""Milliseconds that one request waits for an answer; after that, another request waits."""


class RemoteRun:
    """One run on a server: wait for its result, inspect it, control it."""

    def __init__(self, transport: HttpTransport, id: str, namespace: str, *, ids: Ids, patience: float) -> None:
        self._transport = transport
        self._id = id
        self._namespace = namespace
        self._ids = ids
        self._patience = patience

    @property
    def id(self) -> str:
        return self._id

    @property
    def namespace(self) -> str:
        return self._namespace

    def __repr__(self) -> str:
        return f"<RemoteRun {self.id}>"

    def _path(self, *parts: str) -> str:
        return self._transport.path("runs", self._id, *parts)

    def _query(self, **more: str | int | None) -> Parameters:
        return {"namespace": self._namespace, **more}

    # -- inspect -------------------------------------------------------------------------------------------------

    async def result(self) -> Any:
        """Waits for the end and returns the output; raises `RunFailed`, or `RunBlocked` while the run is
        blocked."""
        while True:
            await self._settled()
            found = await self.picture()
            if found.row.status != "running" or found.row.blocked is not None:
                return _output(self._id, found)

    async def _settled(self) -> None:
        """Waits until the run has ended or is blocked. The stream tolerates a server that is briefly unavailable."""
        ending = asyncio.ensure_future(self._end())
        try:
            while not ending.done():
                with suppress(Unavailable):
                    if (await self.row()).blocked is not None:
                        return
                await asyncio.wait({ending}, timeout=_BLOCKED_CHECK)
            ending.result()
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)

    async def _end(self) -> None:
        async with aclosing(cast("AsyncGenerator[list[Recorded]]", self.follow())) as batches:
            async for _ in batches:
                pass

    async def row(self) -> RunRow:
        """Returns the run's row, as far as the server shows it."""
        return detail_row(await self._detail())

    async def status(self) -> RunStatus:
        """Returns `running`, `completed`, `failed` or `cancelled`."""
        return (await self._detail()).run.status

    async def picture(self, at: int | None = None) -> Picture:
        """Returns everything that a page shows of the run: as it is, or as it was after event number `at`."""
        return picture_of(await self._detail(at))

    async def view(self, at: int | None = None) -> RunView:
        """Returns the run's operations, their outcomes, and their dependencies."""
        return (await self._detail(at)).view

    async def waiting(self) -> list[Reason]:
        """Returns why the run is not moving, in sentences. Empty when it has ended."""
        return (await self._detail()).waiting

    async def events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """Returns the events in order, those after number `after`."""
        found: list[Recorded] = []
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = await self._transport.get(self._path("events"), EventPage, self._query(after=after, limit=size))
            found += page.events
            if page.next is None:
                break
            after = page.next
        return found

    def follow(self, after: int = 0) -> AsyncIterator[list[Recorded]]:
        """Yields events as they are recorded, each once and in order, until the run has ended. Reconnects when the
        connection breaks."""
        stream = EventStream(self._transport, self._path("events"), self._namespace, self._patience)
        return stream.events(after)

    async def agents(self) -> AgentRecords:
        """Returns what agents did in the run: each attempt, turn by turn."""
        return await self._transport.get(self._path("agents"), AgentRecords, self._query())

    async def timeline(self) -> list[Bar]:
        """Returns when each operation ran, with its attempts."""
        return (await self._transport.get(self._path("timeline"), Timeline, self._query())).bars

    async def logs(self, node: str | None = None, after: int = 0, limit: int = 1_000) -> list[Line]:
        """Returns the log lines of the run's tasks in order, those after line `after`."""
        query = self._query(node=node, after=after, limit=min(limit, _PAGE))
        page = await self._transport.get(self._path("logs"), LogPage, query)
        return [line_of(line, self._namespace, self._id) for line in page.lines]

    async def _detail(self, at: int | None = None) -> RunDetail:
        return await self._transport.get(self._path(), RunDetail, self._query(at=at))

    # -- control -------------------------------------------------------------------------------------------------

    async def message(self, name: str, body: Any = None, id: str | None = None) -> str:
        """Sends a message and returns its id; durable when this returns. The same `id` twice is one message."""
        key = self._ids.key() if id is None else id  # with an id from us, the request can be sent again
        content = {"name": name, "body": body, "id": key}
        sent = await self._transport.post(
            self._path("messages"), MessageReceipt, content, self._query(), idempotent=True
        )
        return sent.id

    async def ask(self, name: str, body: Any = None, id: str | None = None, *, wait: float | None = None) -> Any:
        """Sends a message and waits for the run's answer, which may take long; None if its dialect gives none. The same
        `id` twice is one message, and gets the same answer. Raises TimeoutError if there is none `wait` seconds after
        the message is durable."""
        content = {"name": name, "body": body, "id": self._ids.key() if id is None else id}
        return await self._answer(self._path("messages"), content, wait)

    async def _answer(self, path: str, content: Mapping[str, Any], wait: float | None) -> Any:
        left = math.inf if wait is None else max(1, round(wait * 1000))
        longest = min(_WAIT_MS, round(self._transport.timeout * 500))  # the response must arrive before the timeout
        while True:
            wait_ms = min(longest, left)
            sent = {**content, "wait_ms": wait_ms}
            found = await self._transport.post(path, MessageReceipt, sent, self._query(), idempotent=True)
            if found.answered:
                return found.answer
            left -= wait_ms
            if left <= 0:
                raise TimeoutError

    async def query(self, name: str, argument: Any = None) -> Any:
        """Returns the answer of the run's code to a query, also after its end. Changes nothing."""
        path, content = self._path("queries", name), {"argument": argument}
        return (await self._transport.post(path, QueryAnswer, content, self._query(), idempotent=True)).answer

    async def update(self, name: str, body: Any = None, id: str | None = None, *, wait: float | None = None) -> Any:
        """Sends an update to the run's code and returns its answer, as `ask` does; the same `id` again returns the
        first answer. An update that the run's validator rejects raises `InvalidInput`."""
        content = {"body": body, "id": self._ids.key() if id is None else id}
        return await self._answer(self._path("updates", name), content, wait)

    async def published(self, key: str, default: Any = None) -> Any:
        """Returns the last value that the run has published under this key, or `default`."""
        found = await self._transport.get(self._path("published", key), LastPublished, self._query())
        return found.value if found.found else default

    async def stream(self, key: str, after: int = 0) -> AsyncIterator[PublishedValue]:
        """Yields the values that the run publishes under this key, in order, until it has ended; those of events after
        number `after`."""
        async with aclosing(cast("AsyncGenerator[list[Recorded]]", self.follow(after))) as batches:
            async for batch in batches:
                for value in published_in(batch, key):
                    yield value

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        """Cancels the run. With `compensate`, the compensations of its steps run first. No effect on an ended run."""
        await self._post("cancel", {"reason": reason, "compensate": compensate}, idempotent=True)

    async def retry(self, at: str | None = None, *, scope: str = "", deadline: float | timedelta | None = None) -> None:
        """Retries a failed or blocked run; with `at`, from that operation on. If its dialect has a choice, `scope`
        tells how much to rerun; `deadline` is the time that the run has from now on."""
        seconds = deadline.total_seconds() if isinstance(deadline, timedelta) else deadline
        limit = None if seconds is None else round(seconds * 1000)
        await self._post("retry", {"from": at, "scope": scope or None, "deadline_ms": limit})

    async def compensate(self) -> None:
        """Runs the compensations of an ended run, newest first."""
        await self._post("compensate", {})

    async def patch(self, operations: list[dict[str, Any]], *, by: str = "", base: int | None = None) -> int | None:
        """Changes the definition of this run, if its dialect supports it; with `base`, only if that is its revision.
        Returns the new revision. The server records its caller: `by` is ignored."""
        content = {"operations": operations, "base_revision": base}
        return (await self._transport.post(self._path("patch"), PatchedRun, content, self._query())).revision

    async def fork(
        self, at: int | str | None = None, edits: Mapping[str, Any] | None = None, id: str | None = None
    ) -> RemoteRun:
        """Starts a new run with the same history up to `at`: an event number, or the path of an operation to rerun.
        `edits` replaces results of operations that completed before."""
        content = {"at": at, "edits": edits or None, "id": id}
        made = await self._transport.post(self._path("fork"), RunRef, content, self._query())
        return RemoteRun(self._transport, made.id, made.namespace, ids=self._ids, patience=self._patience)

    async def _post(self, verb: str, content: Mapping[str, Any], *, idempotent: bool = False) -> None:
        await self._transport.post(self._path(verb), RunState, content, self._query(), idempotent=idempotent)


def _output(id: str, found: Picture) -> Any:
    row = found.row
    if row.status == "completed":
        return found.output
    if row.status == "running" and row.blocked is not None:
        raise RunBlocked(id, row.blocked)
    error = row.error or ErrorInfo("kernel.failed", "the run failed")
    raise RunFailed(id, row.status, error, cause_of(error).text)
