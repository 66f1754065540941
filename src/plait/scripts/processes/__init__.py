"""Killable processes for untrusted scripts: each language has a program that runs in them.

The engine's side is `pool` (scheduling), `worker` and `process` (one process), `wire` (its pipe). The process's side is
`child`, which loads the language's own package by path. A script that can't be stopped from inside is stopped from
outside: its process is killed.
"""

from __future__ import annotations

from .errors import Died, OutOfTime
from .pool import Pool
from .program import Program
from .worker import Answer

__all__ = ["Answer", "Died", "OutOfTime", "Pool", "Program"]
