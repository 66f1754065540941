from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stores.backends import Backend, Memory, PostgreSQL, Sqlite


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Every store there is."""
    if request.param == "memory":
        yield Memory()
    else:
        yield _shared(request, tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def shared_backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Every store that several processes can use."""
    return _shared(request, tmp_path)


def _shared(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    if request.param == "sqlite":
        return Sqlite(tmp_path / "plait.db")
    return PostgreSQL(request.getfixturevalue("postgres_url"))
