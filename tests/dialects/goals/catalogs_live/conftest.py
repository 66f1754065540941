from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stores.backends import Backend, Memory, PostgreSQL, Sqlite


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Every store there is."""
    match request.param:
        case "memory":
            yield Memory()
        case "sqlite":
            yield Sqlite(tmp_path / "plait.db")
        case _:
            yield PostgreSQL(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def shared_backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Every store that several processes can use."""
    if request.param == "sqlite":
        return Sqlite(tmp_path / "plait.db")
    return PostgreSQL(request.getfixturevalue("postgres_url"))
