"""The definition of a run of this dialect: the goals to reach. The steps are in the catalog."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.kernel.bundle import Reference

from .planning.request import label_of

NAME = "goals"
"""The name of the dialect."""


class Goals(msgspec.Struct, frozen=True):
    """A definition. Which steps it needs is planned when a run is started."""

    goals: tuple[str, ...]
    more: dict[str, list[Any]] = {}
    """Further values of names in init: candidates for inputs that collect several."""

    def reference(self) -> Reference:
        """How JSON refers to this definition."""
        return Reference(NAME, {"goals": list(self.goals)}, self.label)

    @property
    def label(self) -> str:
        """The name shown in lists of runs."""
        return label_of(self.goals)


def goals(*step_ids: str) -> Goals:
    """Asks for the outcome of these steps: `await engine.start(goals("send-email"), {"user_id": "1"})`."""
    return Goals(step_ids)
