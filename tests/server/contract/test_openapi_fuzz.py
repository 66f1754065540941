"""schemathesis against the OpenAPI document the server gives: whatever it says must be true of a live server."""

from __future__ import annotations

import asyncio
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks
from schemathesis.core.parameters import ParameterLocation

from plait.server.auth import AuthOptions
from plait.server.openapi import document
from plait.server.site import Settings
from tests.server.route_table import ROUTES
from tests.server.serving import serving
from tests.support.effort import tries

from .world import World, key_header, make_world

EXAMPLES = tries(12)
MANY_WRONG_KEYS = AuthOptions(wrong_keys=1_000_000)

SLOW_MACHINES = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

schema = schemathesis.openapi.from_dict(document(ROUTES))
schema.config.generation.update(with_security_parameters=False, allow_x00=False)  # the test sends a key
# What fits the document may still not fit the workflow (422), be a link that was used before (410), or expect another
# version than there is now (412).
schema.config.checks.positive_data_acceptance.expected_statuses += ["410", "412", "422"]
load_all_checks()


@dataclass(frozen=True)
class Live:
    url: str
    headers: dict[str, str]
    world: World
    session: requests.Session


class ServerThread(threading.Thread):
    """A server on a loop of its own: schemathesis knows none."""

    def __init__(self, db: str) -> None:
        super().__init__(daemon=True)
        self._db = db
        self._over = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self.up = threading.Event()
        self.live: Live | None = None

    def run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._serve())
        finally:
            self.up.set()

    async def _serve(self) -> None:
        async with serving(self._db, settings=Settings(open=False), options=MANY_WRONG_KEYS) as served:
            world = await make_world(served.site, "default")
            self.live = Live(served.url, await key_header(served.site), world, requests.Session())
            self.up.set()
            await self._over.wait()

    def end(self) -> None:
        if self.live is not None:
            self._loop.call_soon_threadsafe(self._over.set)
        self.join(30)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    thread = ServerThread(f"sqlite:///{tmp_path_factory.mktemp('fuzz')}/plait.db?synchronous=NORMAL")
    thread.start()
    assert thread.up.wait(30)
    assert thread.live is not None
    yield thread.live
    thread.live.session.close()
    thread.end()
    assert not thread.is_alive()


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=SLOW_MACHINES,
)
def test_what_the_document_says_is_true(case: schemathesis.Case, live: Live):
    aim(case, live.world)
    case.call_and_validate(base_url=live.url, headers=live.headers, session=live.session)


def aim(case: schemathesis.Case, world: World) -> None:
    """Two times out of three at something that is there: random ids never are."""
    if isinstance(case.body, dict) and "wait_ms" in case.body and is_positive(case, ParameterLocation.BODY):
        case.body["wait_ms"] = 0  # the test does not wait for tasks
    draw = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode())
    if draw % 3 and is_positive(case, ParameterLocation.PATH):
        known = world.ids(case.operation.path, draw)
        case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
        if is_positive(case, ParameterLocation.QUERY) and "namespace" in case.query:
            case.query["namespace"] = world.namespace


def is_positive(case: schemathesis.Case, part: ParameterLocation) -> bool:
    found = case.meta.components.get(part) if case.meta is not None else None
    return found is not None and found.mode == schemathesis.GenerationMode.POSITIVE
