"""The dialects' packages for the command line, listed without importing any of them."""

from __future__ import annotations

SURFACES = {
    "code": "plait.dialects.code.surface",
    "goals": "plait.dialects.goals.surface",
    "graph": "plait.dialects.graph.surface",
    "refs": "plait.dialects.refs.surface",
    "afl": "plait.dialects.afl.surface",
}
"""The package with a dialect's additions to the command line (its module `commands`), by dialect."""
