"""jq queries in killable processes: no environment, no modules, no clock, one second."""

from __future__ import annotations

from .errors import JqError
from .pool import JqPool

__all__ = ["JqError", "JqPool"]
