"""The guide tells the truth: its examples are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plait.scripts.ale import Script

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "ale.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
EXAMPLES = re.findall(r"^(\(.*?) +; => (.*)$", GUIDE, re.MULTILINE)


@pytest.mark.parametrize(("text", "value"), EXAMPLES)
def test_an_expression_of_the_guide_has_the_value_it_says(text: str, value: str):
    assert Script(text).show() == value


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_guide_runs(program: str):
    exec(compile(program, "ale.md", "exec"), {})


def test_the_guide_has_examples():
    assert len(EXAMPLES) > 20
    assert PROGRAMS
