from pathlib import Path

import pytest

from tests.engine.places import InMemory, OnDisk, Place


@pytest.fixture(params=["memory", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Every store that needs no server."""
    return InMemory() if request.param == "memory" else OnDisk(tmp_path / "plait.db")


@pytest.fixture
def disk(tmp_path: Path) -> OnDisk:
    return OnDisk(tmp_path / "plait.db")
