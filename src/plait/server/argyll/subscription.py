"""One subscription: what it is about, the position it starts at, and every event after that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from plait.kernel.errors import InvalidInput
from plait.kernel.ids import RunId, run_key
from plait.registry.engine import Engine

from .all_flows import AllFlows
from .catalog import catalog_state, cluster_state
from .events import CATALOG, CLUSTER, Told, flow_aggregate
from .flows import known_row
from .following import follow_catalog, follow_cluster, follow_flow
from .route import NAMESPACE
from .state import flow_state

_MOST = 1000
"""Maximum number of aggregates that one subscription may name."""
SubId = Annotated[str, Meta(min_length=1, max_length=256)]
Give = Callable[[dict[str, Any]], Awaitable[None]]
Item = dict[str, Any]


class Subscribe(msgspec.Struct, frozen=True):
    sub_id: SubId
    aggregate_ids: Annotated[list[list[str]], Meta(max_length=_MOST)] | None = None
    event_types: list[str] | None = None
    include_state: bool | None = False


class Unsubscribe(msgspec.Struct, frozen=True):
    sub_id: SubId


class Subscription:
    def __init__(self, engine: Engine, asked: Subscribe, give: Give) -> None:
        self._engine = engine
        self._asked = asked
        self._give = give
        self._types = frozenset(asked.event_types or ())
        self._catalog: int | None = None
        """The number of the first event to send; None: not subscribed to."""
        self._cluster: int | None = None
        self._flows: dict[RunId, int] = {}
        self._all = AllFlows(engine, self._tell) if not asked.aggregate_ids else None

    async def begin(self) -> list[Item]:
        """Finds the positions to start at, and the state there if it was requested."""
        items: list[Item] = []
        for aggregate in self._asked.aggregate_ids or await self._everything():
            match aggregate:
                case ["catalog"]:
                    state, self._catalog = await catalog_state(self._engine)
                    items.append({"id": CATALOG, "data": state, "sequence": self._catalog})
                case ["cluster"]:
                    state, self._cluster = await cluster_state(self._engine)
                    items.append({"id": CLUSTER, "data": state, "sequence": self._cluster})
                case ["flow", flow_id]:
                    items += await self._begin_flow(flow_id)
                case _:
                    pass  # no aggregate has this name, so it has no events
        if self._all is not None:
            self._all.go_on_from(self._flows)
            self._flows = {}
        return items if self._asked.include_state else []

    async def _everything(self) -> list[list[str]]:
        """Returns all aggregates; of the flows, those in progress if the state was requested, else none."""
        if self._all is None:
            return []
        pending_effects = await self._all.begin()
        return [CATALOG, CLUSTER, *(map(flow_aggregate, pending_effects[:_MOST]) if self._asked.include_state else ())]

    async def _begin_flow(self, flow_id: str) -> list[Item]:
        """Sets the position to start at. A flow that does not exist yet is followed from its first event on."""
        try:
            run_id = run_key(NAMESPACE, flow_id)
        except InvalidInput:
            return []  # no flow can have this id
        row = await known_row(self._engine, flow_id)
        if row is None:
            self._flows[run_id] = 0
        elif not self._asked.include_state:
            self._flows |= await self._engine.kernel.store.heads([run_id])
        else:
            state, self._flows[run_id] = await flow_state(self._engine, row)
            return [{"id": flow_aggregate(flow_id), "data": state, "sequence": self._flows[run_id]}]
        return []

    async def run(self) -> None:
        engine, tell = self._engine, self._tell
        try:
            async with asyncio.TaskGroup() as group:
                if self._catalog is not None:
                    group.create_task(follow_catalog(engine, self._catalog, tell))
                if self._cluster is not None:
                    group.create_task(follow_cluster(engine, self._cluster, tell))
                for run_id, after in self._flows.items():
                    group.create_task(follow_flow(engine, run_id, after, tell))
                if self._all is not None:
                    group.create_task(self._all.run(group))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None  # the others failed for the same reason

    async def _tell(self, aggregate: list[str], told: Told) -> None:
        if self._types and told.type not in self._types:
            return
        await self._give(
            {
                "type": told.type,
                "data": told.data,
                "id": aggregate,
                "sub_id": self._asked.sub_id,
                "timestamp": told.at,
                "sequence": told.sequence,
            }
        )
