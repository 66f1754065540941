"""The guide to the server lists every route, with its role, and none that is not there."""

from pathlib import Path

from tests.server.route_table import ROUTES

GUIDE = Path(__file__).parents[2] / "docs/guides/server.md"


def test_the_guide_lists_every_route():
    told = [line for line in GUIDE.read_text().splitlines() if line.startswith("| `")]
    assert told == [f"| `{route.method} {route.full_path}` | {route.role} | {route.summary} |" for route in ROUTES]
