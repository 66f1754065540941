"""A server that speaks Argyll, and steps to register there."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from plait.egress import EgressSettings
from plait.server.site import Settings
from tests.server.serving import Served, serving, soon

Json = dict[str, Any]
MOUNTED = Settings(argyll="local")
UNSET = "0001-01-01T00:00:00Z"
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@contextlib.asynccontextmanager
async def mounted(
    db: str = "memory:", settings: Settings = MOUNTED, definitions: tuple[object, ...] = (), **more: Any
) -> AsyncGenerator[Served]:
    egress = EgressSettings(private=True)
    async with serving(db, settings=settings, definitions=definitions, egress=egress, **more) as served:
        yield served


def script(id: str, needs: list[str] | None = None, gives: list[str] | None = None, ale: str = "{}") -> Json:
    needed = {name: {"role": "required", "type": "any"} for name in needs or []}
    given = {name: {"role": "output", "type": "any"} for name in gives or []}
    return {
        "id": id,
        "name": id.title(),
        "type": "script",
        "attributes": needed | given,
        "script": {"language": "ale", "script": ale},
    }


def http(id: str, endpoint: str, gives: list[str] | None = None, type: str = "sync", **more: Any) -> Json:
    step = script(id, [], gives)
    del step["script"]
    return step | {"type": type, "http": {"endpoint": endpoint}} | more


GREET = script("greet", ["name"], ["greeting"], '{:greeting (str "Hello, " name)}')


async def register(served: Served, *steps: Json) -> None:
    for step in steps:
        answer = await served.client.post("/engine/step", json=step)
        assert answer.status_code == 201, answer.text


async def start(served: Served, id: str, *goals: str, init: Any = None, **more: Any) -> str:
    answer = await served.client.post("/engine/flow", json={"id": id, "goals": list(goals), "init": init, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["flow_id"]


async def state(served: Served, id: str) -> Json:
    answer = await served.client.get(f"/engine/flow/{id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def over(served: Served, id: str, status: str = "completed") -> Json:
    """The state of a flow, once nothing is under way any more."""

    async def ask() -> bool:
        found = (await served.client.get(f"/engine/flow/{id}/status")).json()
        assert found["id"] == id
        return found["status"] == status

    await soon(ask)
    return await state(served, id)


async def events(served: Served, id: str) -> list[Json]:
    found = (await served.client.get(f"/engine/flow/{id}/events")).json()
    assert found["count"] == len(found["events"])
    return found["events"]


def refused(answer: httpx.Response, status: int, code: str) -> str:
    """The words of an error, which has the mount's shape."""
    assert answer.status_code == status, answer.text
    found = answer.json()
    assert set(found) == {"error", "status", "code"}
    assert (found["status"], found["code"]) == (status, code)
    return found["error"]
