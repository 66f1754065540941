"""The limits of one run: section 10 of the spec."""

from __future__ import annotations

from typing import Final

MAX_STEPS: Final = 100_000
MAX_ITERATIONS: Final = 100_000
MAX_ELEMENTS: Final = 10_000
"""Elements of one foreach."""
MAX_CALL_DEPTH: Final = 64
SCRIPT_SECONDS: Final = 30.0
SCRIPT_RESULT: Final = 1024 * 1024
SCRIPT_MEMORY: Final = 256 * 1024 * 1024
LEASE_SECONDS: Final = 30.0
MAX_LOST_LEASES: Final = 3
EVENT_TIMEOUT: Final = 15 * 60.0
"""Seconds of one attempt, by default."""
