from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stores.backends import Backend, Encrypted, Memory, PostgreSQL, Sqlite


@pytest.fixture(params=["sqlite", "postgres", "memory", "encrypted sqlite", "encrypted postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """Every store there is."""
    if request.param == "memory":
        yield Memory()
    else:
        yield shared(request, tmp_path)


@pytest.fixture(params=["sqlite", "postgres", "encrypted sqlite", "encrypted postgres"])
def shared_backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """Every store that several processes can use."""
    return shared(request, tmp_path)


def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    encrypted, _, kind = request.param.rpartition(" ")
    below = (
        Sqlite(tmp_path / "plait.db") if kind == "sqlite" else PostgreSQL(request.getfixturevalue("ready_postgres_url"))
    )
    return Encrypted(below) if encrypted else below
