"""The plan of a run: its steps, their wiring and its gaps. It is part of the run's start and never changes."""

from __future__ import annotations

import msgspec

from plait.dialects.goals.steps.step import Step


class Links(msgspec.Struct, frozen=True):
    """Who in the plan gives a name, and who takes it."""

    providers: list[str]
    consumers: list[str]


class Excluded(msgspec.Struct, frozen=True):
    """Steps that were met and left out, each with the names that were the reason."""

    missing: dict[str, list[str]]
    """Steps that could provide, but lack these required inputs."""
    satisfied: dict[str, list[str]]
    """Steps whose outputs, listed here, are all in init."""
    blocked: dict[str, list[str]]
    """Steps that require the absence of these names, which init has."""


class Plan(msgspec.Struct, frozen=True):
    """Plain JSON; every list and mapping is sorted, but for the goals."""

    goals: list[str]
    steps: dict[str, Step]
    attributes: dict[str, Links]
    required: list[str]
    """Names that init lacks and must have: the deepest gaps."""
    excluded: Excluded
    children: dict[str, Plan]
    warnings: list[str]
    closed: dict[str, list[str]] = {}
    """Steps that are skipped, each with the inputs whose `match` init can't meet."""
