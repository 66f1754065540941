"""`Client`: a Plait server from far, with the calls of an engine."""

from __future__ import annotations

from datetime import timedelta
from types import TracebackType
from typing import Any

from plait.definitions.definition import Definition
from plait.dialects.goals.definition import Goals
from plait.engine.diff import RunDiff
from plait.kernel.clock import SystemClock
from plait.kernel.definitions import Plan
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, Ids, caller_id, run_key
from plait.kernel.store import DeadLetter, Question, RunFilter, RunRow

from . import shapes
from .catalog import RemoteCatalog
from .run import RemoteRun
from .transport import TIMEOUT, Query, Transport

PATIENCE = 15.0
"""Seconds for which a live stream that broke is tried again: a server may be restarted meanwhile."""
_PAGE = 500


class Client:
    """Runs on a Plait server, seen and told from far:

        async with Client("https://plait.example.org", key) as client:
            run = await client.start("order", {"sku": "tea"})
            print(await run.result())

    What does no harm twice is sent again when the connection breaks; nothing else is.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        ids: Ids | None = None,
    ) -> None:
        self.transport = Transport(url, key, timeout)
        self.patience = patience
        self.ids = ids or Ids()
        self.approvals = Approvals(self.transport)
        self.dlq = DeadLetters(self.transport)
        self.definitions = Definitions(self.transport)
        self.catalog = RemoteCatalog(self.transport)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.transport.close()

    @property
    def url(self) -> str:
        return self.transport.address.url

    # -- the server ----------------------------------------------------------------------------------------------

    async def me(self) -> shapes.Me:
        """Who the server takes us for."""
        return await self.transport.get(self.transport.address.path("me"), shapes.Me)

    async def health(self) -> shapes.Health:
        """Whether it lives, and its version; needs no key."""
        return await self.transport.get(f"{self.url}/health", shapes.Health)

    async def ready(self) -> None:
        """Returns if the server can do its work; raises why not."""
        await self.transport.get(f"{self.url}/ready", shapes.Ready)

    # -- runs ----------------------------------------------------------------------------------------------------

    async def start(
        self,
        definition: str | Goals,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
    ) -> RemoteRun:
        """Starts a run of something the server knows: `name`, `name@version` or `name@tag`, or `goals(...)` over its
        catalog. It is durable when this returns. Starting the same id with the same definition and input again gives
        the same run."""
        span = deadline.total_seconds() if isinstance(deadline, timedelta) else deadline
        body = {
            **_asked(definition, input),
            "id": id if id is not None else self.ids.run_id(SystemClock().now()),  # so that it may be sent again
            "deadline_ms": None if span is None else round(span * 1000),
            "labels": labels or None,
        }
        path = self.transport.address.path("runs")
        found = await self.transport.post(path, shapes.RunRef, body, {"namespace": namespace}, again=True)
        return RemoteRun(self, found.id, found.namespace)

    async def get(self, run_id: str, namespace: str = DEFAULT_NAMESPACE) -> RemoteRun:
        """A handle on a run that exists, running or ended."""
        run_key(namespace, run_id)  # refuses what can be no run before it is asked for
        run = RemoteRun(self, run_id, namespace)
        await run.events(limit=1)
        return run

    async def runs(self, query: RunFilter | None = None) -> list[RunRow]:
        """Runs, newest first; without their outputs."""
        query = query or RunFilter()
        if query.after is not None or query.id_prefix is not None:
            raise InvalidInput("client.no_such_filter", "a server filters neither by `after` nor by `id_prefix`")
        found: list[RunRow] = []
        cursor: str | None = None
        while len(found) < query.limit:
            asked = {**_filter(query), "cursor": cursor, "limit": min(_PAGE, query.limit - len(found))}
            page = await self.transport.get(self.transport.address.path("runs"), shapes.RunPage, asked)
            found += [run.row() for run in page.runs]
            if (cursor := page.next) is None:
                break
        return found

    async def plan(self, definition: str | Goals, input: Any = None, namespace: str = DEFAULT_NAMESPACE) -> Plan:
        """What a run would do, as far as can be told; refuses what no `start` could make good."""
        path = self.transport.address.path("plan")
        body = _asked(definition, input)
        return (await self.transport.post(path, shapes.Planned, body, {"namespace": namespace}, again=True)).made()

    async def diff(self, a: RemoteRun, b: RemoteRun) -> RunDiff:
        """What differs between two runs: their input, output, and node by node."""
        path = self.transport.address.path("runs", a.id, "diff")
        return (await self.transport.get(path, shapes.Diff, {"with": b.id, "namespace": a.namespace})).diff()


def _asked(definition: str | Goals, input: Any) -> dict[str, Any]:
    if isinstance(definition, Goals):
        return {"dialect": "goals", "definition": {"goals": list(definition.goals)}, "input": input}
    return {"definition": definition, "input": input}


def _filter(query: RunFilter) -> Query:
    return {
        "namespace": query.namespace,
        "status": ",".join(query.statuses) if query.statuses is not None else None,
        "dialect": query.dialect,
        "definition": query.definition,
        "parent": None if query.parent is None else caller_id(query.parent),
        "label": [f"{key}:{value}" for key, value in (query.labels or {}).items()],
        "q": query.text,
        "since": query.since,
        "until": query.until,
    }


class Approvals:
    """What runs ask people, and people's answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, namespace: str = DEFAULT_NAMESPACE, run_id: str | None = None) -> list[Question]:
        """Open questions, oldest first; of all runs or of one."""
        query = {"namespace": namespace, "run": run_id}
        found = await self._transport.get(self._transport.address.path("approvals"), shapes.ApprovalList, query)
        return [approval.question() for approval in found.approvals]

    async def decide(
        self,
        id: str,
        decision: str,
        *,
        by: str = "",
        comment: str = "",
        data: Any = None,
        namespace: str = DEFAULT_NAMESPACE,
    ) -> None:
        """Answers a question; durable when this returns. The server keeps the name of the key with the answer."""
        if by:
            raise InvalidInput(
                "client.answers_by_key",
                "a server does not take the name of who answers",
                why="it keeps the name of the key",
                fix="leave the name out, or use a key of that person",
            )
        path = self._transport.address.path("approvals", id, "decide")
        body = {"decision": decision, "comment": comment, "data": data}
        await self._transport.post(path, shapes.Named, body, {"namespace": namespace})


class DeadLetters:
    """Tasks that used up their attempts, to be tried again or given up."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self, namespace: str = DEFAULT_NAMESPACE, *, all: bool = False, run_id: str | None = None
    ) -> list[DeadLetter]:
        """Oldest first, of all runs or of one; with `all`, also those that were settled."""
        query = {"namespace": namespace, "status": "all" if all else "pending", "run": run_id}
        found = await self._transport.get(self._transport.address.path("dlq"), shapes.LetterList, query)
        return [letter.dead_letter() for letter in found.dead_letters]

    async def retry(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Tries the task again, with fresh attempts; a run that failed with it goes on."""
        await self._settle(id, "retry", namespace)

    async def discard(self, id: str, namespace: str = DEFAULT_NAMESPACE) -> None:
        """Gives the task up; a rollback that stopped at it goes on without it."""
        await self._settle(id, "discard", namespace)

    async def _settle(self, id: str, verdict: str, namespace: str) -> None:
        path = self._transport.address.path("dlq", id, verdict)
        await self._transport.post(path, shapes.Named, {}, {"namespace": namespace})


class Definitions:
    """What can be started, in which versions, and under which tags."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, dialect: str | None = None, namespace: str = DEFAULT_NAMESPACE) -> list[Definition]:
        """By name."""
        query = {"dialect": dialect, "namespace": namespace}
        path = self._transport.address.path("definitions")
        return (await self._transport.get(path, shapes.DefinitionList, query)).definitions
