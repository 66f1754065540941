"""Names of parameters that literals could become: that of their field, unless it is taken."""

from __future__ import annotations

from typing import Any

from .recorded import Recording
from .sources import fingerprint


class InputNames:
    """Equal values of equal fields share a parameter; others are numbered."""

    def __init__(self, recording: Recording) -> None:
        given = recording.input
        self._known = {key: fingerprint(value) for key, value in given.items()}
        self.values = {**given}
        """The recorded value of each parameter."""
        self.presets = {step.name: self.of(step.name, step.output) for step in recording.steps if not step.tool}
        """Parameters for results that were set without a tool, by step name: a template takes them as input."""

    def of(self, field: str, value: Any) -> str:
        wanted = fingerprint(value)
        number = 1
        while self._known.setdefault(name := field if number == 1 else f"{field}_{number}", wanted) != wanted:
            number += 1
        self.values.setdefault(name, value)
        return name
