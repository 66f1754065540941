"""How many uses turn a pipeline into a tool; 0: never."""

from typing import Final

USES: Final = 2
"""Default for namespaces without a setting."""
MOST_USES: Final = 1_000
