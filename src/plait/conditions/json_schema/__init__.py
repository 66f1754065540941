"""The cost of validating a value, computed before it is validated.

The validator can't be stopped once it runs, and a short schema can keep it busy for hours: thirty definitions that
each refer twice to the next are a billion checks. So `cost` walks the same way as the validator, and counts.
"""

from __future__ import annotations

from .cost import Cost
from .resources import OutsideReference

__all__ = ["Cost", "OutsideReference"]
