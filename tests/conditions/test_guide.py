"""The guide tells the truth: its conditions compile, its table is evaluated, its program runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from plait import conditions
from plait.kernel import values
from tests.conditions.judging import FLAWS, PROBLEMS

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "conditions.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
CONDITIONS = re.findall(r"^```json\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
EXPRESSIONS = re.findall(r"^\| `(.*)` \| `(.*)` \| `(\w+)` \|$", GUIDE, re.MULTILINE)
CODES = set(re.findall(r"`(condition\.\w+)`", GUIDE))


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_of_the_guide_compiles(text: str):
    conditions.compile(json.loads(text))


@pytest.mark.parametrize(("expression", "output", "value"), EXPRESSIONS)
def test_an_expression_of_the_guide_has_the_value_it_says(expression: str, output: str, value: str):
    found = conditions.compile(expression.replace(r"\|", "|")).evaluate(values.parse(output))
    told = found.error.code.removeprefix("condition.") if found.error else json.dumps(found.value)
    assert told == value


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_guide_runs(program: str):
    exec(compile(program, "conditions.md", "exec"), {})


def test_the_guide_has_examples_and_lists_every_code():
    assert len(EXPRESSIONS) > 15
    assert len(CONDITIONS) > 7
    assert PROGRAMS
    assert {f"condition.{code}" for code in FLAWS | PROBLEMS} == CODES
