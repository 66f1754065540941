"""Which tests run: with `--pure` those that need nothing but this process, with `--long` those that take long.

With neither: all but the long ones, which is what a release needs. A test that is marked `costly` is not run with
`--pure` either: it needs more than this process, or takes more than a second, in a folder of others that don't.
"""

from __future__ import annotations

from pathlib import Path

import pytest

REAL_FOLDERS = (
    *("cli", "client", "contract", "e2e", "faults", "scripts/lua"),
    *("server", "sim", "stores", "support", "testing"),
)
"""Below `tests`: what is here starts processes, listens on sockets, writes databases, or tries every crash."""
POSTGRES = frozenset({"postgres_url", "postgres_server", "own_postgres"})
"""Fixtures."""
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
    return not is_long and not (config.getoption("pure") and _is_costly(item))


def _is_costly(item: pytest.Item) -> bool:
    return item.get_closest_marker("costly") is not None or _needs_postgres(item)


def _needs_postgres(item: pytest.Item) -> bool:
    """It asks for a fixture, or is the case of a test of all stores."""
    fixtures: list[str] = getattr(item, "fixturenames", [])
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return not POSTGRES.isdisjoint(fixtures) or "postgres" in parameters.values()
