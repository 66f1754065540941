"""A client as Argyll's public one is: written from what the spec says that such clients send and expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

Json = dict[str, Any]
TYPES = ("sync", "async", "script", "flow")


class ArgyllError(Exception):
    def __init__(self, answer: httpx.Response) -> None:
        super().__init__(f"{answer.status_code}: {answer.json()['error']}")
        self.status = answer.status_code


@dataclass(frozen=True)
class ArgyllClient:
    http: httpx.AsyncClient

    async def register(self, step: Json) -> None:
        """Another step of that id is replaced."""
        answer = await self.http.post("/engine/step", json=step)
        if answer.status_code == 409:
            answer = await self.http.put(f"/engine/step/{step['id']}", json=step)
        self._good(answer, 200, 201)

    async def steps(self) -> dict[str, Json]:
        """Reads as strictly as the public client does: what it does not know breaks it."""
        found: dict[str, Json] = {}
        for step in self._good(await self.http.get("/engine/step"), 200)["steps"]:
            assert step["type"] in TYPES
            assert {each["type"] for each in step["attributes"].values()} <= {"string", "number", "any", "array"}
            assert "http" not in step or step["http"]["endpoint"]
            assert step["name"]
            found[step["id"]] = step
        return found

    async def start(self, id: str, goals: list[str], init: Json) -> str:
        body = {"id": id, "goals": goals, "init": {name: [value] for name, value in init.items()}}
        return self._good(await self.http.post("/engine/flow", json=body), 200, 201)["flow_id"]

    async def status(self, id: str) -> str:
        return self._good(await self.http.get(f"/engine/flow/{id}/status"), 200)["status"]

    async def state(self, id: str) -> Json:
        return self._good(await self.http.get(f"/engine/flow/{id}"), 200)

    def _good(self, answer: httpx.Response, *statuses: int) -> Any:
        if answer.status_code not in statuses:
            raise ArgyllError(answer)
        return answer.json()
