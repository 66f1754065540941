"""The name of the dialect, and the versions of what it stores."""

from __future__ import annotations

from typing import Final

NAME: Final = "afl"
"""The name of the dialect."""

STEP_SCHEMA_VERSION: Final = "1.0"
"""The version of stored steps and AFL events."""
RUNTIME_VERSION: Final = "1.0.0"
"""The version of the machine that advances them."""
WORKFLOW_VERSION: Final = "1.0"
"""The version of a definition that gives none."""
