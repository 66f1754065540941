"""What every test can use: `async def` tests, and PostgreSQL and Valkey for those that ask.

A server starts only when a test asks for one, at most once in each test process.
"""

import inspect
import os
import sys
from collections.abc import Generator, Iterator
from typing import Any

import hypothesis
import pytest

from tests.support.coroutines import on_a_loop
from tests.support.postgres import Postgres, PostgresServer
from tests.support.postgres_tables import PlaitDatabase
from tests.support.valkey import Valkey, ValkeyServer

pytest_plugins = ["tests.support.figures", "tests.support.tiers"]

# Hundreds of tests start a process, each of which would compile every module again if none were kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Wraps coroutine tests; pytest then calls them as any other."""
    test = pyfuncitem.obj
    seconds = _time_limit(pyfuncitem)
    if inspect.iscoroutinefunction(test):
        pyfuncitem.obj = on_a_loop(test, seconds)
    elif hypothesis.is_hypothesis_test(test) and inspect.iscoroutinefunction(test.hypothesis.inner_test):
        test.hypothesis.inner_test = on_a_loop(test.hypothesis.inner_test, seconds)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, Any]:
    """What a test logs may be no text that pytest-xdist can carry from one process to another."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


def _time_limit(item: pytest.Function) -> float | None:
    """A little less than pytest-timeout's: that one only shows the loop, ours shows the await that hung."""
    marker = item.get_closest_marker("timeout")
    limits = (marker and marker.args[0], item.config.getoption("timeout"), item.config.getini("timeout"))
    seconds = next(float(limit) for limit in limits if limit is not None)
    return 0.9 * seconds or None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """The server that this test process shares: the one in PLAIT_TEST_POSTGRES, or one of our own."""
    if given := os.environ.get("PLAIT_TEST_POSTGRES"):
        yield Postgres(given)
        return
    with PostgresServer.start(durable=False) as server:
        yield server


@pytest.fixture(scope="session")
def _postgres_database(postgres_server: Postgres) -> Iterator[str]:
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
def postgres_url(postgres_server: Postgres, _postgres_database: str) -> str:
    """An empty database, for this test alone."""
    postgres_server.empty(_postgres_database)
    return _postgres_database


@pytest.fixture(scope="session")
def _plait_database(postgres_server: Postgres) -> Iterator[PlaitDatabase]:
    database = PlaitDatabase(postgres_server)
    yield database
    database.drop()


@pytest.fixture
def ready_postgres_url(_plait_database: PlaitDatabase) -> str:
    """A database with Plait's tables, for this test alone: much quicker than to have a store make them."""
    _plait_database.renew()
    return _plait_database.url


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server for this test alone, to stop, kill and restart."""
    with PostgresServer.start() as server:
        yield server


@pytest.fixture(scope="session")
def _valkey() -> Iterator[Valkey]:
    """The server that this test process shares: the one in PLAIT_TEST_REDIS, or one of our own."""
    if given := os.environ.get("PLAIT_TEST_REDIS"):
        yield Valkey(given)
        return
    with ValkeyServer.start() as server:
        yield server


@pytest.fixture
def redis_url(_valkey: Valkey) -> str:
    """An empty Redis, for this test alone."""
    _valkey.empty()
    return _valkey.url


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    """A server for this test alone, to kill and restart."""
    with ValkeyServer.start() as server:
        yield server
