"""A command as `plait --help` shows it; its code is imported when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Section = Literal["Run", "Inspect", "Control", "Maintain"]


@dataclass(frozen=True, slots=True)
class Command:
    section: Section
    name: str
    help: str
    place: str
    """The function or group of commands, as `module:name`."""
