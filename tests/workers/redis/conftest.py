import pytest


@pytest.fixture
def short_lease(redis_url: str) -> str:
    """A Redis whose workers have one second for a task."""
    return f"{redis_url}?lease=1"
