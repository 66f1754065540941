"""Ale: a small, purely functional Lisp with lazy sequences, for scripts, predicates, `match` and mappings.

    script = ale.compile("(> amount 100)", ["amount"])
    script.holds({"amount": 120})       # True

A text goes through `reader` (forms), `compiler` (nodes, all names resolved), `nodes` (code) and `machine` (values). It
has no I/O, clock or randomness, and no way out of the values it is given; `limits` says what it may take.
"""

from __future__ import annotations

from collections.abc import Sequence

from .cache import Cache
from .errors import AleCompileError, AleError, AleLimitError, AleRuntimeError, AleSyntaxError
from .limits import Limits
from .script import Script

__all__ = [
    "AleCompileError",
    "AleError",
    "AleLimitError",
    "AleRuntimeError",
    "AleSyntaxError",
    "Limits",
    "Script",
    "compile",
]

_cache = Cache()


def compile(text: str, parameters: Sequence[str] = ()) -> Script:
    """A script for these parameters, from the cache if it was used before. Raises if it can't be run."""
    return _cache.get(text, parameters)
