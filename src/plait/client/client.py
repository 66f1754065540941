"""`Client`: a Plait server, with the calls of an engine."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, Unpack

from plait.api.diff import Diff
from plait.api.erasure import Receipt
from plait.api.fleet import FleetOverview
from plait.api.health import Health, Ready
from plait.api.picture import RunDiff
from plait.api.plan import RunPlan
from plait.api.run import RunPage, RunRef
from plait.api.session import Me
from plait.api.transport import Parameters
from plait.kernel.bundle import Reference, Startable
from plait.kernel.clock import SystemClock
from plait.kernel.definitions import Plan
from plait.kernel.errors import Erased, InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, Ids, caller_id, run_key
from plait.kernel.run_queues import Queueing
from plait.kernel.store import RunFilter, RunRow

from .approvals import RemoteApprovals
from .dead_letters import RemoteDeadLetters
from .definitions import RemoteDefinitions
from .drafts import RemoteDrafts
from .event_stream import PATIENCE
from .queues import RemoteQueues
from .records import diff_of, plan_of, row_of
from .run import RemoteRun
from .schedules import RemoteSchedules
from .tools import RemoteTools
from .transport import TIMEOUT, HttpTransport

_PAGE = 500


class Client:
    """Starts, watches and controls runs on a Plait server:

        async with Client("https://plait.example.org", key) as client:
            run = await client.start("order", {"sku": "tea"})
            print(await run.result())

    Idempotent requests are sent again when the connection breaks; others are not.
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
        self.transport = HttpTransport(url, key, timeout)
        self.patience = patience
        self.ids = ids or Ids()
        self.approvals = RemoteApprovals(self.transport, keyed=key is not None)
        self.dlq = RemoteDeadLetters(self.transport)
        self.queues = RemoteQueues(self.transport)
        self.definitions = RemoteDefinitions(self.transport)
        self.drafts = RemoteDrafts(self.transport)
        self.tools = RemoteTools(self.transport)
        self.schedules = RemoteSchedules(self.transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.transport.close()

    @property
    def url(self) -> str:
        return self.transport.address.url

    # -- the server ----------------------------------------------------------------------------------------------

    async def me(self) -> Me:
        """Returns the caller, as the server sees it."""
        return await self.transport.get(self.transport.path("me"), Me)

    async def health(self) -> Health:
        """Returns whether the server is alive, and its version; needs no key."""
        return await self.transport.get(f"{self.url}/health", Health)

    async def ready(self) -> None:
        """Returns if the server is ready; raises if it is not."""
        await self.transport.get(f"{self.url}/ready", Ready)

    async def fleet(self) -> FleetOverview:
        """Returns the engines behind the server; for callers who see all namespaces."""
        return await self.transport.get(self.transport.path("fleet"), FleetOverview)

    # -- runs ----------------------------------------------------------------------------------------------------

    async def start(
        self,
        definition: str | Startable | Reference,
        input: Any = None,
        *,
        id: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        deadline: float | timedelta | None = None,
        labels: dict[str, str] | None = None,
        subject: str | None = None,
        **queueing: Unpack[Queueing],
    ) -> RemoteRun:
        """Starts a run of something the server knows: `name`, `name@version` or `name@tag`, or a definition such as
        `goals(...)`. It is durable when this returns. Starting the same id with the same definition and input again
        returns the same run. `subject` tells whose values it holds; see `erase`. On a `queue` it waits for a slot: see
        `Queueing`."""
        body = {
            **_named(definition),
            "input": input,
            "id": self.ids.run_id(SystemClock().now()) if id is None else id,  # makes the request repeatable
            "deadline_ms": _millis(deadline),
            "labels": labels or None,
            "subject": subject,
            **_queueing(queueing),
        }
        path = self.transport.path("runs")
        found = await self.transport.post(path, RunRef, body, {"namespace": namespace}, idempotent=True)
        return self._run(found.id, found.namespace)

    async def get(self, run_id: str, namespace: str = DEFAULT_NAMESPACE) -> RemoteRun:
        """Returns a handle on an existing run, running or ended."""
        run_key(namespace, run_id)  # refuses an invalid id without a request
        run = self._run(run_id, namespace)
        with suppress(Erased):  # the run exists, without its values
            await run.events(limit=1)
        return run

    async def runs(self, query: RunFilter | None = None) -> list[RunRow]:
        """Lists runs, newest first; without their outputs."""
        query = query or RunFilter()
        if query.after is not None or query.id_prefix is not None:
            raise InvalidInput("client.no_such_filter", "a server can filter neither by `after` nor by `id_prefix`")
        found: list[RunRow] = []
        cursor: str | None = None
        while len(found) < query.limit:
            asked = {**_filter(query), "cursor": cursor, "limit": min(_PAGE, query.limit - len(found))}
            page = await self.transport.get(self.transport.path("runs"), RunPage, asked)
            found += [row_of(run) for run in page.runs]
            if (cursor := page.next) is None:
                break
        return found

    async def erase(
        self, subject: str, namespace: str = DEFAULT_NAMESPACE, *, by: str = "", cancel: bool = False
    ) -> Receipt:
        """Makes every value of a subject's runs unreadable, for good. The server records its caller: `by` is ignored,
        and exists only because an engine on a database takes it."""
        body = {"subject": subject, "cancel": cancel}
        path = self.transport.path("erasures")
        return await self.transport.post(path, Receipt, body, {"namespace": namespace}, idempotent=True)

    async def plan(
        self, definition: str | Startable | Reference, input: Any = None, namespace: str = DEFAULT_NAMESPACE
    ) -> Plan:
        """Plans a run: what it would do, as far as that is known; refuses a definition that could never start."""
        path = self.transport.path("plan")
        body = {**_named(definition), "input": input}
        return plan_of(await self.transport.post(path, RunPlan, body, {"namespace": namespace}, idempotent=True))

    async def diff(self, a: RemoteRun, b: RemoteRun) -> RunDiff:
        """Compares two runs: their input, their output, and node by node."""
        path = self.transport.path("runs", a.id, "diff")
        return diff_of(await self.transport.get(path, Diff, {"with": b.id, "namespace": a.namespace}))

    def _run(self, id: str, namespace: str) -> RemoteRun:
        return RemoteRun(self.transport, id, namespace, ids=self.ids, patience=self.patience)


def _named(definition: str | Startable | Reference) -> dict[str, Any]:
    if isinstance(definition, str):
        return {"definition": definition}
    reference = definition if isinstance(definition, Reference) else definition.reference()
    return {"dialect": reference.dialect, "definition": reference.definition}


def _queueing(given: Queueing) -> dict[str, Any]:
    spans = {f"{name}_ms": _millis(given.get(name)) for name in ("delay", "debounce")}
    others = {name: value for name, value in given.items() if name not in ("delay", "debounce")}
    return {**others, **{name: span for name, span in spans.items() if span is not None}}


def _millis(span: float | timedelta | None) -> int | None:
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    return None if seconds is None else round(seconds * 1000)


def _filter(query: RunFilter) -> Parameters:
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
        "stalled": query.stalled or None,
    }
