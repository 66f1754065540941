"""Ale: a small, purely functional Lisp with lazy sequences, for scripts, predicates, `match` and mappings.

    script = ale.compile("(> amount 100)", ["amount"])
    script.holds({"amount": 120})       # True

A text goes through `reader` (forms), `compiler` (nodes, all names resolved), `nodes` (code) and `machine` (values). It
has no I/O, clock or randomness, and no access beyond its arguments; `limits` bounds its resources.
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
    """Compiles a script with these parameters, or returns it from the cache. Raises if it is invalid."""
    return _cache.get(text, parameters)
