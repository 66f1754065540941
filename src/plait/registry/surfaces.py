"""Where each dialect has what it adds to the command line; known without importing any of them."""

from __future__ import annotations

SURFACES = {
    "code": "plait.dialects.code.surface",
    "goals": "plait.dialects.goals.surface",
    "graph": "plait.dialects.graph.surface",
    "refs": "plait.dialects.refs.surface",
    "afl": "plait.dialects.afl.surface",
}
"""By dialect, the package with what it adds to the command line (its module `commands`)."""
