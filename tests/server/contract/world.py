"""Things that a namespace can hold, one of each kind, for tests that go through all routes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from plait import afl
from plait.agents.promotion.promotions import Promotions
from plait.catalog import catalog_step
from plait.dialects.afl.running.state import Binding
from plait.dialects.afl.stored_handlers import StoredHandler
from plait.engine import Handle
from plait.kernel.errors import NotFound
from plait.server.site import Site
from tests.server import flows
from tests.server.serving import soon

TEA = flows.Order("Ann")
PROGRAM = """
namespace post {
    event facet Send(to: String) => (id: String)
    workflow Notify(to: String) => (id: String) andThen {
        sent = Send(to = $.to)
        yield Notify(id = sent.id)
    }
}
"""
"""Nobody does its event, so that it stays open."""


@dataclass(frozen=True)
class World:
    """The ids of what is in one namespace. Each can be told to do what its name says."""

    namespace: str
    running: str
    ended: str
    failed: str
    approval: str
    letter: str
    key: str
    hook: str
    link: str
    callback: str
    step: str
    node_type: str
    afl_run: str
    afl_step: str
    afl_event: str
    facet: str
    tool: str
    schedule: str
    definition: str = "order"
    version: str = "1"
    tag: str = "prod"

    def ids(self, path: str, draw: int = 0) -> dict[str, str]:
        """What the parameters of a path can be here; `draw` chooses among runs."""
        match path.removeprefix("/api/v1").split("/")[1]:
            case "runs":
                return {"id": (self.running, self.ended, self.failed)[draw % 3]}
            case "approvals":
                return {"id": self.approval}
            case "dlq":
                return {"id": self.letter}
            case "queues":
                return {"name": "mails"}
            case "schedules":
                return {"name": self.schedule}
            case "keys":
                return {"id": self.key}
            case "hooks":
                return {"token": self.hook}
            case "links":
                return {"token": self.link}
            case "callbacks":
                return {"token": self.callback}
            case "catalog":
                return {"id": self.step}
            case "definitions":
                return {"name": self.definition, "version": self.version, "tag": self.tag}
            case "node-types":
                return {"name": self.node_type}
            case "afl":
                ids = {"step": self.afl_step, "event": self.afl_event, "facet": self.facet}
                return ids | {"id": self.afl_run if "/afl/runs/" in path else self.afl_event}
            case "agents":
                return {"name": self.tool}
            case "blobs":
                return {"hash": hashlib.sha256(b"{}").hexdigest()}
            case other:
                raise AssertionError(f"what does {{…}} in {path} ({other}) stand for?")

    @property
    def names(self) -> tuple[str, ...]:
        """What no answer to somebody else may hold."""
        runs = (self.running, self.ended, self.failed)
        return (
            self.namespace,
            *runs,
            self.afl_run,
            self.facet,
            self.tool,
            self.approval,
            self.letter,
            self.schedule,
            self.key,
            self.tag,
            self.step,
            self.node_type,
        )


async def make_world(site: Site, namespace: str) -> World:
    engine = site.engine

    async def start(what: Any, input: object, name: str) -> Handle[Any]:
        return await engine.start(what, input, id=f"{namespace}-{name}", namespace=namespace)

    running = await start(flows.order, TEA, "running")
    ended = await start(flows.quick, TEA, "ended")
    failed = await start(flows.failing, None, "failed")
    asking = await start(flows.asking, None, "asking")
    await soon(lambda: _has(ended, "completed"))
    await soon(lambda: _has(failed, "failed"))
    [approval] = await soon(lambda: engine.approvals.list(namespace, run_id=asking.id))
    [letter] = await soon(lambda: engine.dlq.list(namespace, run_id=failed.id))
    version = (await engine.definitions.get("order", namespace)).versions[0].version
    await engine.definitions.tag("order", f"{namespace}-tag", version, namespace)
    goal = await engine.catalog.of(namespace).register(
        catalog_step(f"{namespace}-step").output("tea", str).ale('{:tea "green"}')
    )
    node_type = await engine.node_types.register({"type_name": f"type-{namespace}"}, namespace)
    afl_run = await start(afl(PROGRAM), {"to": "ann"}, "afl")
    interface = engine.afl.of(namespace)
    [event] = await soon(lambda: _events(interface, afl_run.id))
    facet = f"f{namespace.replace('-', '_')}.Send"
    await interface.stored.put(StoredHandler(facet, Binding("queue", name="mail")), namespace)
    promotions = Promotions(engine.records, engine.kernel.clock)
    promoted = await promotions.used(namespace, [{"step": "table_sort", "field": namespace}], "1", 1)
    tool = promoted.name if promoted is not None else ""
    schedule = await engine.schedules.create(f"{namespace}-daily", "order", TEA, every=86_400, namespace=namespace)
    key, _ = await site.auth.keys.create(f"{namespace}-spare", "viewer", namespace)
    return World(
        namespace=namespace,
        running=running.id,
        ended=ended.id,
        failed=failed.id,
        approval=approval.id,
        letter=letter.id,
        key=key.id,
        hook=site.auth.links.mint("hook", namespace, running.id, name="go").token,
        link=site.auth.links.mint("approval", namespace, approval.id).token,
        callback=site.auth.links.mint("result", namespace, running.id, name="1:work").token,
        step=goal.id,
        node_type=node_type.type_name,
        afl_run=afl_run.id,
        afl_step=event.step_id,
        afl_event=event.event_id,
        facet=facet,
        tool=tool,
        schedule=schedule.name,
        version=version,
        tag=f"{namespace}-tag",
    )


async def _events(interface: Any, run: str) -> list[Any]:
    try:
        return await interface.events(run)
    except NotFound:  # no engine has taken it up yet
        return []


async def _has(handle: Handle[Any], status: str) -> bool:
    return await handle.status() == status


async def key_header(site: Site, namespace: str = "*", role: str = "admin") -> dict[str, str]:
    """The header of a new key."""
    _, text = await site.auth.keys.create(f"{role} of {namespace}", role, namespace)
    return {"Authorization": f"Bearer {text}"}
