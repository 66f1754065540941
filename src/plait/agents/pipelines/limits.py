"""How much a pipeline may work on."""

from typing import Final

MOST_ROWS: Final = 100_000
MOST_BYTES: Final = 10 * 1024 * 1024
"""Of what one step gives, as JSON."""
MOST_VALUES: Final = 2_000_000
"""Of a table that is read from text; what else comes from outside may have far fewer."""
SECONDS: Final = 60.0
