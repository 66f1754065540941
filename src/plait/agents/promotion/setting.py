"""How many uses make a pipeline a tool; 0: it never becomes one."""

from typing import Final

USES: Final = 2
"""Unless the namespace says otherwise."""
MOST_USES: Final = 1_000
