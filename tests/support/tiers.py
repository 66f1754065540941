"""Which tests run.

- with `--pure`: those that need nothing but this process. Not those that are marked `costly`: they need more, or take
  more than a second, in a folder of others that don't
- with `--long`: those that leave something to chance, ten times as hard: property tests, and what is marked `chance`;
  with `chance(again=True)` a test is repeated
- with neither: all of them, as a release needs
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from tests.support import effort

REAL_FOLDERS = (
    *("cli", "client", "contract", "e2e", "faults", "scripts/javascript", "scripts/lua", "scripts/python"),
    *("server", "sim", "stores", "support", "testing"),
)
"""Below `tests`: what is here starts processes, listens on sockets, writes databases, or tries every crash."""
SERVERS = frozenset(
    {"postgres_url", "ready_postgres_url", "postgres_server", "own_postgres", "redis_url", "own_valkey"}
)
"""Fixtures."""
_TESTS = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--pure", action="store_true", help="only tests that need nothing but this process")
    group.addoption("--long", action="store_true", help="only tests that leave something to chance, and harder")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("long"):
        os.environ.setdefault(effort.VARIABLE, str(effort.LONG))  # test modules read it, in the workers too
    # How fast examples are made depends on what else the machine does
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile(
        "plait", max_examples=effort.examples(100), deadline=None, suppress_health_check=slow
    )
    hypothesis.settings.load_profile("plait")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A folder of real tests is not even imported when pure ones are wanted."""
    is_real = any(collection_path == _TESTS / folder for folder in REAL_FOLDERS)
    return True if is_real and config.getoption("pure") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests stay to the end: the garbage collector need not look through them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("chance")
    if metafunc.config.getoption("long") and marker is not None and marker.kwargs.get("again"):
        metafunc.fixturenames.append("_round")
        metafunc.parametrize("_round", range(effort.tries(1)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_wanted(item, config)]
    items[:] = [item for item in items if _is_wanted(item, config)]
    config.hook.pytest_deselected(items=left_out)


def _is_wanted(item: pytest.Item, config: pytest.Config) -> bool:
    if config.getoption("long"):
        return _leaves_to_chance(item)
    return not (config.getoption("pure") and _is_costly(item))


def _leaves_to_chance(item: pytest.Item) -> bool:
    is_property = isinstance(item, pytest.Function) and hypothesis.is_hypothesis_test(item.obj)
    return is_property or item.get_closest_marker("chance") is not None


def _is_costly(item: pytest.Item) -> bool:
    return item.get_closest_marker("costly") is not None or _needs_postgres(item)


def _needs_postgres(item: pytest.Item) -> bool:
    """It asks for a fixture, or is the case of a test of all stores."""
    fixtures: list[str] = getattr(item, "fixturenames", [])
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return not SERVERS.isdisjoint(fixtures) or "postgres" in parameters.values()
