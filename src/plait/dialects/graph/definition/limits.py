"""The limits of section 10: on the size of a definition, and the defaults for what a run may do."""

from __future__ import annotations

from typing import Final

MAX_NODES: Final = 1_000
MAX_EDGES: Final = 5_000
MAX_BYTES: Final = 1024 * 1024
"""Bytes of a definition as JSON."""
MAX_ITERATIONS: Final = 10_000
MAX_ATTEMPTS: Final = 10
WRITTEN_FANOUT: Final = 100
"""Targets of one emit that are written in the definition."""
CHOSEN_FANOUT: Final = 10
"""Targets of one emit that an agent or a handler chooses."""
TOKENS_PER_S: Final = 100.0
QUEUE_DEPTH: Final = 1_000
"""Tokens held back by a throttle without a given depth."""
SUMMARIZE_BYTES: Final = 16 * 1024
"""Bytes above which payloads are summarized, unless the graph gives a size."""
MAX_PATCH_OPERATIONS: Final = 100
MAX_ADDED_AGENTS: Final = 5
"""Agents that patches may add to one run."""
