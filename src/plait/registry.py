"""Every dialect that Plait has, in one place: the only module outside of a dialect that knows one by name."""

from __future__ import annotations

SURFACES = {
    "code": "plait.dialects.code.surface",
    "goals": "plait.dialects.goals.surface",
}
"""By dialect, the package with what it adds to the command line (its module `commands`)."""
