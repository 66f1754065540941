"""A command, as far as `plait --help` needs to know it: it is imported when it is called."""

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
    """`module:name` of a function, or of a group of commands."""
