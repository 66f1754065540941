"""For each operation of the API, a call that works: what it is sent, to what, and what it then answers.

An operation that is not here makes the tests fail: whoever adds a route says here how it is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from .world import World


@dataclass(frozen=True)
class Ask:
    status: int = 200
    """When the caller may do it."""
    body: Any = None
    run: Callable[[World], str] = lambda world: world.running
    query: Callable[[World], dict[str, str]] = lambda _: {}
    everywhere: bool = False
    """Only for a caller of all namespaces."""


ORDER = {"definition": "quick", "input": {"customer": "Ann"}}
POUR = {"id": "pour", "name": "Pour", "type": "script", "script": {"language": "ale", "script": "1"}}

AFL = "namespace mail { event facet Send(to: String) => (id: String) }"

ASKS: dict[str, Ask] = {
    "runs.start": Ask(201, ORDER),
    "runs.list": Ask(),
    "runs.show": Ask(),
    "runs.events": Ask(),
    "runs.timeline": Ask(),
    "runs.agents": Ask(),
    "runs.logs": Ask(),
    "runs.diff": Ask(query=lambda world: {"with": world.ended}),
    "runs.cancel": Ask(body={"reason": "enough"}),
    "runs.retry": Ask(body={}, run=lambda world: world.failed),
    "runs.compensate": Ask(body={}, run=lambda world: world.ended),
    "runs.patch": Ask(409, {"operations": [{"op": "remove", "node": "ship"}]}),  # code can't be patched
    "runs.message": Ask(body={"name": "go"}),
    "runs.query": Ask(404, {}),  # it has none of that name
    "runs.update": Ask(404, {}),
    "runs.published": Ask(),
    "runs.graph": Ask(409),  # code has none
    "runs.source": Ask(run=lambda world: world.afl_run),
    "runs.record": Ask(409),  # only graphs have one
    "runs.fork": Ask(201, {}, run=lambda world: world.ended),
    "definitions.list": Ask(),
    "definitions.show": Ask(),
    "definitions.version": Ask(),
    "definitions.save": Ask(201, {"dialect": "goals", "definition": POUR}),
    "definitions.tag": Ask(body={"version": "{version}"}),
    "definitions.untag": Ask(),
    "definitions.delete": Ask(422),  # code can't be deleted
    "definitions.diff": Ask(query=lambda world: {"from": world.version, "to": world.version}),
    "definitions.patch": Ask(422, {"operations": []}),  # code can't be patched
    "definitions.move_tag": Ask(body={"version": "{version}", "expected": "{version}"}),
    "definitions.undo": Ask(409, {}),  # it was never moved
    "definitions.redo": Ask(409, {}),
    "definitions.upload": Ask(body={"text": "{}"}),
    "node_types.list": Ask(),
    "node_types.show": Ask(),
    "node_types.register": Ask(body={"type_name": "mailer"}),
    "graph.schema": Ask(),
    "policy.show": Ask(),
    "policy.set": Ask(body={}),
    "refs.schema": Ask(),
    "afl.check": Ask(body={"source": AFL}),
    "afl.compile": Ask(body={"source": AFL}),
    "afl.format": Ask(body={"source": AFL}),
    "afl.steps": Ask(),
    "afl.step": Ask(),
    "afl.events": Ask(),
    "afl.event": Ask(),
    "afl.handlers.list": Ask(),
    "afl.handlers.put": Ask(body={"facet": "mail.Send", "kind": "queue", "queue": "mail"}),
    "afl.handlers.remove": Ask(204),
    "afl.tasks.claim": Ask(body={"agent": "a", "facets": ["nobodys.*"]}),
    "afl.tasks.heartbeat": Ask(404, {"lease_token": "x"}),
    "afl.tasks.step": Ask(404, query=lambda _: {"lease_token": "x"}),
    "afl.tasks.update": Ask(404, {"lease_token": "x", "returns": {}}),
    "afl.tasks.complete": Ask(404, {"lease_token": "x", "result": {}}),
    "afl.tasks.fail": Ask(404, {"lease_token": "x", "error": {"message": "no paper"}}),
    "tools.list": Ask(),
    "agents.tools": Ask(),
    "agents.remove_tool": Ask(),
    "catalog.list": Ask(),
    "catalog.show": Ask(),
    "catalog.unregister": Ask(),
    "plan.make": Ask(body=ORDER),
    "conditions.test": Ask(body={"condition": "output.score >= 80", "output": {"score": 85}}),
    "approvals.list": Ask(),
    "approvals.show": Ask(),
    "approvals.decide": Ask(body={"decision": "approve"}),
    "approvals.delegate": Ask(409, {"to": "ann"}),  # its caller is none of the approvers
    "approvals.link": Ask(201, {}),
    "dlq.list": Ask(),
    "dlq.show": Ask(),
    "dlq.retry": Ask(body={}),
    "dlq.discard": Ask(body={}),
    "queues.list": Ask(),
    "queues.show": Ask(),
    "queues.set": Ask(body={"concurrency": 5, "rate": 50}),
    "queues.pause": Ask(body={}),
    "queues.resume": Ask(body={}),
    "schedules.list": Ask(),
    "schedules.preview": Ask(body={"cron": "30 9 * * MON-FRI", "tz": "Europe/Berlin"}),
    "schedules.save": Ask(body=ORDER | {"every_ms": 3_600_000}),
    "schedules.show": Ask(),
    "schedules.fires": Ask(),
    "schedules.pause": Ask(body={}),
    "schedules.resume": Ask(body={}),
    "schedules.trigger": Ask(202, {}),
    "schedules.backfill": Ask(202, {"since": 0, "until": 86_400_000}),
    "schedules.delete": Ask(),
    "tasks.claim": Ask(body={"worker": "w", "queues": ["nobodys"]}),
    "tasks.heartbeat": Ask(404, {"id": "x"}),
    "tasks.complete": Ask(404, {"id": "x"}),
    "tasks.fail": Ask(404, {"id": "x", "error": {"message": "no paper"}}),
    "tasks.report": Ask(body={"results": [{"id": "x"}]}),
    "tasks.keep": Ask(404, {"id": "x", "index": 0}),
    "tasks.suspend": Ask(404, {"id": "x", "wait": {"for": "time", "due": 1}}),
    "tasks.terms": Ask(404, {"id": "x"}),
    "tasks.reserve": Ask(404, {"id": "x", "tokens": 1}),
    "tasks.patch": Ask(404, {"id": "x"}),
    "tasks.release": Ask(404, {"id": "x"}),
    "hooks.create": Ask(201, {"message": "go"}),
    "hooks.call": Ask(body={"paid": True}),
    "callbacks.report": Ask(body={"done": True}),
    "links.show": Ask(),
    "links.answer": Ask(body={"decision": "approve"}),
    "me.show": Ask(),
    "session.sign_in": Ask(401, {"key": "plait_nobody"}),
    "session.sign_out": Ask(204),
    "keys.list": Ask(),
    "keys.create": Ask(201, {"name": "new", "role": "viewer"}),
    "keys.revoke": Ask(),
    "erasures.create": Ask(409, {"subject": "customer:42"}),  # encryption is off
    "erasures.list": Ask(),
    "audit.list": Ask(),
    "fleet.show": Ask(everywhere=True),
    "server.metrics": Ask(everywhere=True),
    "server.health": Ask(),
    "server.ready": Ask(),
    "server.openapi": Ask(),
}


@dataclass(frozen=True)
class Operation:
    """One operation of the OpenAPI document."""

    name: str
    method: str
    path: str
    role: str
    scoped: bool
    """Whether a namespace can be stated."""

    @property
    def ask(self) -> Ask:
        return ASKS[self.name]

    @property
    def names_something(self) -> bool:
        return "{" in self.path

    def target(self, world: World) -> str:
        """The path, with the ids of a world."""
        ids = world.ids(self.path) if self.names_something else {}
        if self.path.startswith("/api/v1/runs/{id}"):
            ids = {"id": self.ask.run(world), "name": "count", "key": "count"}
        return self.path.format(**{name: quote(id, safe="") for name, id in ids.items()})

    def body(self, world: World) -> Any:
        text = json.dumps(self.ask.body).replace("{version}", world.version)
        return json.loads(text)


def operations(document: dict[str, Any]) -> list[Operation]:
    return [
        Operation(
            name=found["operationId"],
            method=method.upper(),
            path=path,
            role=found["x-plait-role"],
            scoped=any(each["name"] == "namespace" for each in found["parameters"]),
        )
        for path, methods in document["paths"].items()
        for method, found in methods.items()
    ]
