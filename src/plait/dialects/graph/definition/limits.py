"""The limits of section 10: what a definition may hold, and what a run may do unless it says otherwise."""

from __future__ import annotations

from typing import Final

MAX_NODES: Final = 1_000
MAX_EDGES: Final = 5_000
MAX_BYTES: Final = 1024 * 1024
"""Of a definition as JSON."""
MAX_ITERATIONS: Final = 10_000
MAX_ATTEMPTS: Final = 10
WRITTEN_FANOUT: Final = 100
"""Targets of one emit that stand in the definition."""
CHOSEN_FANOUT: Final = 10
"""Targets of one emit that an agent or a handler chooses."""
TOKENS_PER_S: Final = 100.0
QUEUE_DEPTH: Final = 1_000
"""Of a graph that is throttled without saying how."""
SUMMARIZE_BYTES: Final = 16 * 1024
"""Of a graph that summarizes without saying from what size on."""
MAX_PATCH_OPERATIONS: Final = 100
MAX_ADDED_AGENTS: Final = 5
"""By patches of one run."""
