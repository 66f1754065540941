"""The servers, the browser and the pages of the end-to-end tests."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from plait.server.ui import STATIC

from .browsing import PATIENCE_MS, Desk, Watch, leave
from .gallery import fill
from .serving import Server, make_key

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Tests with a page run in the browser's thread."""
    desk = pyfuncitem.funcargs.get("desk")
    if isinstance(desk, Desk):
        test: Callable[..., Any] = pyfuncitem.obj
        pyfuncitem.obj = functools.wraps(test)(functools.partial(desk.do, test))


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    assert (STATIC / "index.html").is_file(), "the web UI is not built: make ui"
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The open server that the tests of a worker share; each test has runs, or a namespace, of its own."""
    server = Server(tmp_path_factory.mktemp("server")).start()
    yield server
    server.close()


@pytest.fixture(scope="session")
def gallery(server: Server) -> Server:
    """The shared server, with one of everything in a namespace."""
    fill(server)
    return server


@pytest.fixture(scope="session")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks for keys; its own client is an admin."""
    folder = tmp_path_factory.mktemp("keyed")
    key = make_key(f"sqlite:///{folder / 'e2e.db'}", "root", "admin")
    server = Server(folder, command="serve", key=key).start()
    yield server
    server.close()


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for this test alone, to stop and start."""
    server = Server(tmp_path_factory.mktemp("own"))
    yield server
    server.close()


@pytest.fixture
def _own_if_any(request: pytest.FixtureRequest) -> None:
    """A page is left before its server stops: else it tells of requests that failed."""
    if "own" in request.fixturenames:
        request.getfixturevalue("own")


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def page(desk: Desk, server: Server, watch: Watch, _own_if_any: None) -> Iterator[Page]:
    """A page that nobody has used, as far as one can see."""
    page = desk.do(lambda: watch.over(desk.page(server.url)))
    yield page
    desk.do(_hand_on, page, server.url, watch)


@pytest.fixture
def keyed_page(desk: Desk, keyed: Server, watch: Watch) -> Iterator[Page]:
    """One that has not signed in yet."""
    page = desk.do(lambda: watch.over(desk.page(keyed.url)))
    yield page
    desk.do(_hand_on, page, keyed.url, watch)


@pytest.fixture
def context(desk: Desk, server: Server, watch: Watch, _own_if_any: None) -> Iterator[BrowserContext]:
    """A browser for this test alone: for several pages, and for what can't be undone, as a clock."""
    context = desk.do(desk.context, server.url)
    yield context
    desk.do(_end, context, watch)


@pytest.fixture
def own_page(desk: Desk, context: BrowserContext, watch: Watch) -> Page:
    return desk.do(lambda: watch.over(context.new_page()))


def _hand_on(page: Page, url: str, watch: Watch) -> None:
    try:
        watch.check(page.context)
    finally:
        watch.off(page)
        leave(page, url)


def _end(context: BrowserContext, watch: Watch) -> None:
    try:
        watch.check(context)
    finally:
        context.close()


@pytest.fixture
def name() -> str:
    """A name that nothing else has: for runs, labels, namespaces."""
    return f"n{uuid.uuid4().hex[:10]}"


@pytest.fixture
def ordered(server: Server, name: str) -> str:
    """A run that has done everything that a workflow can do."""
    server.begin("checkout", {"customer": "Ada", "cups": 3}, id=name, labels={"team": "blue"})
    server.decide(name, data={"discount": 10, "note": "be quick"})
    server.ended(name)
    return name


@pytest.fixture
def waiting(server: Server, name: str) -> str:
    """A run that has done a step and waits for the message `go`."""
    server.begin("steady", {"customer": "Ada"}, id=name)
    server.waits(name, "message")
    return name


@pytest.fixture
def failed(server: Server, name: str) -> str:
    """A run that failed, with a dead letter; its supplier has the same name."""
    server.begin("restock", name, id=name)
    server.ended(name, "failed")
    return name
