"""The world outside the engine: Python steps and step servers, with the luck of the scenario, and a ledger."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any

from plait.egress import Headers, Request, Response
from plait.kernel import values
from plait.kernel.ids import DEFAULT_NAMESPACE, run_key
from plait.kernel.inputs import Message
from plait.kernel.task import current_attempt
from plait.registry.engine import Engine
from plait.testing.sim.client import get_through
from plait.testing.sim.cluster import Cluster

from .catalog import ASKED, BROKEN, NEVER, SERVER, Luck
from .lua import instant_lua
from .scenario import FlowScenario

_FAILURES = 2
"""Attempts that fail before a late success."""


class BadLuck(Exception):
    """The next attempt may have more luck."""


class NoLuck(Exception):
    """No attempt will succeed."""

    retryable = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One attempt of an item, or of its compensator."""

    run_id: str
    step: str
    token: str
    attempt: int
    undo: bool = False


class FlowWorld:
    def __init__(self, cluster: Cluster, scenario: FlowScenario) -> None:
        self._cluster = cluster
        self._scenario = scenario
        self._random = Random(f"servers {scenario.seed}")
        self._calls: dict[str, int] = {}
        self.ledger: list[Entry] = []
        self.repaired: set[str] = set()
        """Runs whose broken step and broken compensators succeed now."""
        self._released: set[str] = set()
        """Runs whose step that waits for its client is answered."""
        self._asked: list[tuple[str, str]] = []
        """Runs and tokens of such steps."""

    def furnish(self, engine: Engine) -> None:
        """Gives an engine the functions and the step servers of this world before it opens."""
        engine.goals.handlers.add("work", self._work)
        engine.goals.handlers.add("undo", self._undo)
        engine.executors.send = self.send
        engine.executors.languages.use("lua", instant_lua())

    def release(self, run_id: str) -> None:
        """Lets the step of a run that waits for its client answer."""
        self._released.add(run_id)
        for each, token in self._asked:
            if each == run_id:
                self._cluster.spawn(self._answer(run_id, token, "p", Luck()))

    # -- Python steps --------------------------------------------------------------------------------------------

    async def _work(self, gives: str = "mended", **inputs: Any) -> dict[str, Any]:
        entry = self._note(undo=False)
        if entry.step == BROKEN:
            if entry.run_id not in self.repaired:
                raise NoLuck("it is broken")
            return {gives: "MENDED"}
        luck = self._scenario.lucks[entry.step]
        if luck.takes:
            await self._cluster.clock.sleep(luck.takes)
        _try(luck, entry.attempt)
        return {gives: gives.upper()}

    async def _undo(self, input: Any, output: Any) -> None:
        entry = self._note(undo=True)
        ends = self._undone(entry)
        if ends == "badly":
            raise NoLuck("never undone")
        if ends == "late" and entry.attempt == 1:
            raise BadLuck("not undone yet")

    def _undone(self, entry: Entry) -> str:
        return "well" if entry.run_id.partition(":")[0] in self.repaired else self._scenario.lucks[entry.step].undone

    def _note(self, *, undo: bool) -> Entry:
        attempt = current_attempt.get()
        if attempt is None:
            raise RuntimeError("a step runs outside a task")
        entry = Entry(attempt.run_id, attempt.task.node, attempt.task.token, attempt.number, undo)
        self.ledger.append(entry)
        return entry

    # -- step servers --------------------------------------------------------------------------------------------

    async def send(self, request: Request) -> Response:
        """Behaves like the guarded client."""
        step_id, token = request.headers["Argyll-Step-ID"], request.headers["Argyll-Receipt-Token"]
        run_id = request.headers["Argyll-Flow-ID"]
        undo = request.url.endswith("/undo")
        self._calls[token] = self._calls.get(token, 0) + 1
        entry = self._note(undo=undo)
        if undo:
            ends = self._undone(entry)
            late = ends == "late" and entry.attempt == 1
            return _response(request, 422 if ends == "badly" else 503 if late else 200)
        if step_id == NEVER or (step_id == ASKED and run_id not in self._released):
            self._asked += [(run_id, token)] if step_id == ASKED else []
            return _response(request, 202)
        luck = self._scenario.lucks.get(step_id, Luck())
        if luck.ends == "late" and self._calls[token] <= _FAILURES:
            return _response(request, 503)
        name = request.url.rpartition("/")[2]
        if request.url.startswith(f"{SERVER}/sync/"):
            return await self._at_once(request, name, luck)
        self._cluster.spawn(self._answer(run_id, token, name, luck))
        if self._random.random() < 0.3:  # the answer may arrive before the call returns
            await self._cluster.clock.sleep(self._random.choice((0.0, 0.5)))
        return _response(request, 202)

    async def _at_once(self, request: Request, name: str, luck: Luck) -> Response:
        if luck.takes:
            await self._cluster.clock.sleep(luck.takes)
        if luck.ends == "badly":
            return _response(request, 422)
        return _response(request, 200, values.plain({name: name.upper()}))

    async def _answer(self, run_id: str, token: str, name: str, luck: Luck) -> None:
        """The webhook; sometimes called twice."""
        await self._cluster.clock.sleep(luck.takes + self._random.choice((0.0, 0.0, 2.0)))
        kind, body = ("failed", {"detail": "no luck"}) if luck.ends == "badly" else ("work", {name: name.upper()})
        run = run_key(DEFAULT_NAMESPACE, run_id)
        for number in range(self._random.choice((1, 1, 2))):
            key = f"{token}-{self._calls[token]}-{number}"
            message = Message(key, f"{kind}:{token}", values.encode(body), self._cluster.clock.now())
            await get_through(
                self._cluster, self._random, lambda engine, m=message, k=key: engine.kernel.send(run, m, k)
            )
            await asyncio.sleep(0)


def _try(luck: Luck, attempt: int) -> None:
    if luck.ends == "badly":
        raise NoLuck("no luck")
    if luck.ends == "late" and attempt <= _FAILURES:
        raise BadLuck("not yet")


def _response(request: Request, status: int, body: bytes = b"") -> Response:
    return Response(
        status=status,
        headers=Headers([]),
        body=body,
        url=request.url,
        address="127.0.0.1",
        redirects=0,
        bytes_sent=0,
        bytes_received=0,
        ms=0,
    )
