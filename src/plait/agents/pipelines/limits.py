"""Size limits of pipelines."""

from typing import Final

MOST_ROWS: Final = 100_000
MOST_BYTES: Final = 10 * 1024 * 1024
"""Bytes of one step's output, as JSON."""
MOST_VALUES: Final = 2_000_000
"""Values of a table that is read from text; other outside data may have far fewer."""
SECONDS: Final = 60.0
