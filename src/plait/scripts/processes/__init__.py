"""Killable processes for scripts that nobody trusts: each language has a program that runs in them.

The engine's side is `pool` (who runs next), `worker` and `process` (one process), `wire` (its pipe). The side of the
process is `child`, which loads the language's own package by path. A script that can't be stopped from within is
stopped from without: its process is killed.
"""

from __future__ import annotations

from .errors import Died, OutOfTime
from .pool import Pool
from .program import Program
from .worker import Answer

__all__ = ["Answer", "Died", "OutOfTime", "Pool", "Program"]
