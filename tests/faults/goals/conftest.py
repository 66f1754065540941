from collections.abc import Iterator
from pathlib import Path

import pytest

from .services import StepService, serving_steps


@pytest.fixture
def service(tmp_path: Path) -> Iterator[StepService]:
    """A step service in a process of its own."""
    with serving_steps(tmp_path) as service:
        yield service
