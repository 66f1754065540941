"""What the dialect is called, and the versions of what it stores."""

from __future__ import annotations

from typing import Final

NAME: Final = "afl"
"""Of the dialect."""

STEP_SCHEMA_VERSION: Final = "1.0"
"""Of the records of steps and AFL events."""
RUNTIME_VERSION: Final = "1.0.0"
"""Of the machine that moves them."""
WORKFLOW_VERSION: Final = "1.0"
"""Of a definition that gives none."""
