"""One run on a server: the calls and the types of `Handle`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast

from plait.engine.run_details import Picture
from plait.engine.timeline import Bar
from plait.errors import ErrorInfo, HistoryDivergedError, RunFailed, Unavailable
from plait.kernel.events import Recorded
from plait.kernel.store import Line, RunRow
from plait.kernel.view import Reason, RunStatus, RunView

from . import shapes
from .following import Following
from .transport import Query, Transport

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from .client import Client

_PAGE = 5_000
_GLANCE = 1.0
"""Seconds between looks whether a run is blocked, which no event tells."""


class RemoteRun:
    """One run on a server: wait for its result, look at it, tell it something."""

    def __init__(self, client: Client, id: str, namespace: str) -> None:
        self._client = client
        self._id = id
        self._namespace = namespace

    @property
    def id(self) -> str:
        return self._id

    @property
    def namespace(self) -> str:
        return self._namespace

    def __repr__(self) -> str:
        return f"<RemoteRun {self.id}>"

    @property
    def _transport(self) -> Transport:
        return self._client.transport

    def _path(self, *parts: str) -> str:
        return self._transport.address.path("runs", self._id, *parts)

    def _query(self, **more: str | int | None) -> Query:
        return {"namespace": self._namespace, **more}

    # -- asking --------------------------------------------------------------------------------------------------

    async def result(self) -> Any:
        """Waits for the end and gives the output; raises `RunFailed`, or `HistoryDivergedError` while the run is
        blocked."""
        while True:
            await self._settled()
            found = await self.picture()
            if found.row.status != "running" or found.row.blocked is not None:
                return _output(self._id, found)

    async def _settled(self) -> None:
        """Until it has ended or is blocked. A server that is away for a moment is waited for by the stream."""
        ending = asyncio.ensure_future(self._end())
        try:
            while not ending.done():
                with suppress(Unavailable):
                    if (await self.row()).blocked is not None:
                        return
                await asyncio.wait({ending}, timeout=_GLANCE)
            ending.result()
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)

    async def _end(self) -> None:
        async with aclosing(cast("AsyncGenerator[list[Recorded]]", self.follow())) as batches:
            async for _ in batches:
                pass

    async def row(self) -> RunRow:
        """The run's record as it stands, as far as the server tells."""
        return (await self._detail()).row()

    async def status(self) -> RunStatus:
        """`running`, `completed`, `failed` or `cancelled`."""
        return (await self._detail()).run.status

    async def picture(self, at: int | None = None) -> Picture:
        """Everything a page shows of the run: as it is, or as it was after event number `at`."""
        return (await self._detail(at)).picture()

    async def view(self, at: int | None = None) -> RunView:
        """The run's operations, what became of them, and how they follow from each other."""
        return (await self._detail(at)).view

    async def waiting(self) -> list[Reason]:
        """Why the run is not moving, in words. Empty when it has ended."""
        return (await self._detail()).waiting

    async def events(self, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """What has happened, in order; those after number `after`."""
        found: list[Recorded] = []
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = await self._transport.get(
                self._path("events"), shapes.EventPage, self._query(after=after, limit=size)
            )
            found += page.events
            if page.next is None:
                break
            after = page.next
        return found

    def follow(self, after: int = 0) -> AsyncIterator[list[Recorded]]:
        """Events as they are recorded, each once and in order. Ends when the run has ended and all is told. A
        connection that breaks is made again."""
        following = Following(self._transport, self._path("events"), self._namespace, self._client.patience)
        return following.events(after)

    async def timeline(self) -> list[Bar]:
        """When each operation ran, with its attempts."""
        return (await self._transport.get(self._path("timeline"), shapes.Timeline, self._query())).bars

    async def logs(self, node: str | None = None, after: int = 0, limit: int = 1_000) -> list[Line]:
        """What the run's tasks said, in order; those after line `after`."""
        query = self._query(node=node, after=after, limit=min(limit, _PAGE))
        page = await self._transport.get(self._path("logs"), shapes.LogPage, query)
        return page.of(self._namespace, self._id)

    async def _detail(self, at: int | None = None) -> shapes.RunDetail:
        return await self._transport.get(self._path(), shapes.RunDetail, self._query(at=at))

    # -- telling -------------------------------------------------------------------------------------------------

    async def message(self, name: str, body: Any = None, id: str | None = None) -> str:
        """Sends a message; durable when this returns. The same `id` twice is one message. Returns its id."""
        key = self._client.ids.key() if id is None else id  # with an id of our own it may be sent again
        content = {"name": name, "body": body, "id": key}
        return (await self._transport.post(self._path("messages"), shapes.Named, content, self._query(), again=True)).id

    async def cancel(self, reason: str = "", compensate: bool = False) -> None:
        """Ends the run. With `compensate`, what its steps did is undone first. A run that has ended stays as it is."""
        await self._tell("cancel", {"reason": reason, "compensate": compensate}, again=True)

    async def retry(self, at: str | None = None) -> None:
        """Goes on with a failed or blocked run; with `at`, from that operation on."""
        await self._tell("retry", {"from": at})

    async def compensate(self) -> None:
        """Undoes what the steps of an ended run did, newest first."""
        await self._tell("compensate", {})

    async def patch(self, operations: list[dict[str, Any]]) -> None:
        """Changes the definition of this run, where its dialect can."""
        await self._tell("patch", {"operations": operations})

    async def fork(
        self, at: int | str | None = None, edits: Mapping[str, Any] | None = None, id: str | None = None
    ) -> RemoteRun:
        """A new run with the same past up to `at`, an event number or the path of an operation that is then
        done again. `edits` gives other results to operations that completed before."""
        content = {"at": at, "edits": edits or None, "id": id}
        made = await self._transport.post(self._path("fork"), shapes.RunRef, content, self._query())
        return RemoteRun(self._client, made.id, made.namespace)

    async def _tell(self, verb: str, content: Mapping[str, Any], *, again: bool = False) -> None:
        await self._transport.post(self._path(verb), shapes.Named, content, self._query(), again=again)


def _output(id: str, found: Picture) -> Any:
    row = found.row
    if row.status == "completed":
        return found.output
    if row.status == "running" and row.blocked is not None:
        raise HistoryDivergedError(id, row.blocked)
    raise RunFailed(id, row.status, row.error or ErrorInfo("kernel.failed", "it failed"))
