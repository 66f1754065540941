"""The limits of section 10: on the size of a definition, and on what a run may do."""

from __future__ import annotations

from typing import Final

MAX_STEPS: Final = 500
MAX_RECORDED_STEPS: Final = 1_000
MAX_PATH: Final = 32
"""Parts in the path of one reference."""
MAX_BYTES: Final = 1024 * 1024
"""Bytes of a definition as JSON."""
MAX_CODE: Final = 256 * 1024
"""Bytes of one code text."""
MAX_ITEMS: Final = 10_000
MAX_CONCURRENCY: Final = 100
IN_FLIGHT: Final = 64
"""Tasks of one run in flight at once."""
MAX_SCHEMA: Final = 100_000
"""Characters of a JSON Schema."""
MAX_SCHEMA_DEPTH: Final = 10

MAX_ATTEMPTS: Final = 10
TOOL_TIMEOUT: Final = 30.0
CODE_TIMEOUT: Final = 10.0
SANDBOX_GRACE: Final = 5.0
"""Seconds that a sandbox may take to start: it measures the time of the code itself."""
FUNCTION_TIMEOUT: Final = 300.0
MAX_BACKOFF: Final = 300.0
"""Seconds between two attempts."""
JITTER: Final = 0.1
