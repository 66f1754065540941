"""Which tests run: with `--pure` those that need nothing but this process, with `--long` those that take long.

With neither: all but the long ones, which is what a release needs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

REAL_FOLDERS = ("cli", "client", "contract/stores", "e2e", "faults", "server", "sim", "stores", "support")
"""Below `tests`: what is here starts processes, listens on sockets, writes databases, or tries many seeds."""
REAL_FIXTURES = frozenset({"postgres_url", "postgres_server", "own_postgres"})
_TESTS = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiers")
    group.addoption("--pure", action="store_true", help="only tests that need nothing but this process")
    group.addoption("--long", action="store_true", help="only tests that take long")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A folder of real tests is not even imported when pure ones are wanted."""
    is_real = any(collection_path == _TESTS / folder for folder in REAL_FOLDERS)
    return True if is_real and config.getoption("pure") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_wanted(item, config)]
    items[:] = [item for item in items if _is_wanted(item, config)]
    config.hook.pytest_deselected(items=left_out)


def _is_wanted(item: pytest.Item, config: pytest.Config) -> bool:
    is_long = item.get_closest_marker("long") is not None
    if config.getoption("long"):
        return is_long
    return not is_long and not (config.getoption("pure") and _is_real(item))


def _is_real(item: pytest.Item) -> bool:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    return item.get_closest_marker("real") is not None or not REAL_FIXTURES.isdisjoint(fixtures)
