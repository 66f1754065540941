"""What a run has behind it, kept with its row."""

from __future__ import annotations

import msgspec

from .agent_totals import AgentTotals
from .ids import Millis, RunId


class Past(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a run has behind it that its status does not say: most have nothing, and no past in their rows."""

    source: RunId | None = None
    """The run that it is a fork of."""
    shared: int = 0
    """How many events it took over from that run."""
    reopened: int = 0
    """How often it went on after it had ended."""
    idle: Millis = Millis(0)
    """How long it was ended in between."""
    partial: bool = False
    """It completed, but not all of its steps did."""
    agents: AgentTotals | None = None
    """As of the last time that its row was written."""


NO_PAST = Past()
