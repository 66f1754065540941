from pathlib import Path

import pytest

from tests.codec.places import Sealed


@pytest.fixture(params=["sqlite", "postgres"])
def sealed(request: pytest.FixtureRequest, tmp_path: Path) -> Sealed:
    """Every store that lasts."""
    if request.param == "sqlite":
        return Sealed(f"sqlite:///{tmp_path / 'plait.db'}?synchronous=NORMAL")
    return Sealed(request.getfixturevalue("ready_postgres_url"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plait.db"


@pytest.fixture
def on_disk(file: Path) -> Sealed:
    return Sealed(f"sqlite:///{file}")
