"""The limits and defaults of the dialect, each with the number that the spec gives it. Times are milliseconds."""

from __future__ import annotations

from typing import Final

MAX_RETRIES: Final = 10
INIT_BACKOFF: Final = 1000
MAX_BACKOFF: Final = 60_000
PARALLELISM: Final = 1
HTTP_TIMEOUT: Final = 30_000
PREPARE_TIMEOUT: Final = 30_000

GOALS: Final = 64
INIT_NAMES: Final = 128
LABELS: Final = 32
ID_LENGTH: Final = 256

ITEMS: Final = 10_000
MEMO_ENTRIES: Final = 65_536

STEP_BYTES: Final = 512 * 1024
RUN_BYTES: Final = 1024 * 1024
SCRIPT_BYTES: Final = 64 * 1024

CHILD_PLANS: Final = 10_000
"""Plans inside one plan, all children expanded: nested flow steps multiply."""
CHILD_LEVELS: Final = 32
"""Levels of nested flow steps: the depth of child runs that the kernel allows."""

LONGEST_DEADLINE: Final = 31_536_000_000
