"""What agents have used in a run so far: stored in the run's row, so that lists need not read logs."""

from __future__ import annotations

import msgspec

from .events import AgentFinished


class AgentTotals(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Of all attempts, failed ones too. One that is under way counts with its number only."""

    attempts: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    """None: the price of at least one call is unknown."""

    def begun(self) -> AgentTotals:
        return AgentTotals(self.attempts + 1, self.tokens, self.cost_usd)

    def finished(self, event: AgentFinished) -> AgentTotals:
        known = None if self.cost_usd is None or event.cost_usd is None else self.cost_usd + event.cost_usd
        return AgentTotals(self.attempts, self.tokens + event.usage.input + event.usage.output, known)


NO_AGENTS = AgentTotals(cost_usd=0.0)
