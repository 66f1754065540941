"""How hard tests that leave something to chance try: ten times as hard with `--long`.

`PLAIT_TEST_EFFORT=50 pytest tests/scripts/ale/test_properties.py` tries one of them harder still.
"""

from __future__ import annotations

import math
import os

VARIABLE = "PLAIT_TEST_EFFORT"
LONG = 10
SHORT = 1 / 4
"""Of the usual examples: what a change breaks, the first few nearly always show."""


def is_long() -> bool:
    """Whether tests are to try as hard as they can."""
    return tries(1) > 1


def tries(usual: int) -> int:
    """How many kills, or how much load."""
    return usual * int(os.environ.get(VARIABLE, "1"))


def examples(usual: int) -> int:
    """How many random examples or seeds: a quarter of the usual number, unless told how hard to try."""
    return tries(usual) if VARIABLE in os.environ else math.ceil(usual * SHORT)
