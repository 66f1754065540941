"""How hard tests that leave something to chance try: ten times as hard with `--long`.

`PLAIT_TEST_EFFORT=50 pytest tests/scripts/ale/test_properties.py` tries one of them harder still.
"""

from __future__ import annotations

import os

VARIABLE = "PLAIT_TEST_EFFORT"
LONG = 10


def is_long() -> bool:
    """Whether tests are to try as hard as they can."""
    return tries(1) > 1


def tries(usual: int) -> int:
    """How many seeds, examples or kills."""
    return usual * int(os.environ.get(VARIABLE, "1"))
