"""The session in the guide is the one in the examples, and prints what the guide says."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/recording.md").read_text()
EXAMPLE = ROOT / "examples/recording/session.py"


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_guide_shows_the_example() -> None:
    assert textwrap.indent(_block("python").strip(), " " * 8) in EXAMPLE.read_text().replace(
        "recordings = engine.recordings\n", ""
    )


@pytest.mark.costly
def test_the_session_prints_what_the_guide_says() -> None:
    ran = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=110, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == _block("text")
    assert "mail to bernhard@example.org: Order order-43 is on its way" in ran.stderr
