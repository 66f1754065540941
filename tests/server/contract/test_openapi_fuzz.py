"""schemathesis against the OpenAPI document the server gives: whatever it says must be true of a live server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import requests

from plait.server.auth import AuthOptions
from plait.server.openapi import document
from plait.server.site import Settings
from tests.server.route_table import ROUTES
from tests.server.serving import serving

from .world import World, key_header, make_world

MANY_WRONG_KEYS = AuthOptions(wrong_keys=1_000_000)
OPERATIONS = [(method, path) for path, item in document(ROUTES)["paths"].items() for method in item]


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


@pytest.mark.chance
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_what_the_document_says_is_true(method: str, path: str, live: Live):
    from .fuzzing import check

    check(method, path, live.url, live.headers, live.world, live.session)


def test_every_operation_of_the_document_is_tried():
    from .fuzzing import described

    assert len(OPERATIONS) == described().statistic.operations.total == len(set(OPERATIONS))
