from pathlib import Path

import pytest


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A database file of its own."""
    return f"sqlite:///{tmp_path}/plait.db?synchronous=NORMAL"
