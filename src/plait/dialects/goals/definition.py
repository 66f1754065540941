"""What a run of this dialect is started with: the goals to reach. The steps are in the catalog."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel.bundle import Reference

from .planning.request import label_of

NAME = "goals"
"""Of the dialect."""


class Goals(msgspec.Struct, frozen=True):
    """A definition. Which steps it takes is planned when a run is started."""

    goals: tuple[str, ...]
    more: dict[str, list[Any]] = {}
    """Further values of names in init: candidates for inputs that collect several."""

    def reference(self) -> Reference:
        """How JSON names it."""
        return Reference(NAME, {"goals": list(self.goals)}, self.label)

    @property
    def label(self) -> str:
        """What lists of runs call it."""
        return label_of(self.goals)


def goals(*step_ids: str) -> Goals:
    """Asks for the outcome of these steps: `await engine.start(goals("send-email"), {"user_id": "1"})`."""
    return Goals(step_ids)
