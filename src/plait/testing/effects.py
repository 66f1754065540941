"""The side effects of a workflow's steps, each with its idempotency key.

A crash may make a step run again, but only with the same key, so that the service it calls can detect the repetition.
What counts is which keys were used for what, and in which order they were first used, not how often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plait.kernel.task import current_attempt

if TYPE_CHECKING:
    from .sim.simulator import Sim


class Effect(NamedTuple):
    """A side effect of a step, and its idempotency key."""

    name: str
    key: str


class Effects:
    """Steps `note` their side effects. `survives_every_crash(..., effects=...)` compares them after each crash."""

    def __init__(self) -> None:
        self._first: dict[Effect, None] = {}
        self.calls = 0
        """How many effects were noted, including repetitions after a crash."""

    def note(self, name: str) -> Effect:
        """Called by a step that is about to have this effect."""
        attempt = current_attempt.get()
        if attempt is None:
            raise RuntimeError("only a step that a workflow calls has an idempotency key")
        effect = Effect(name, attempt.task.key)
        self.calls += 1
        self._first.setdefault(effect)
        return effect

    def begin(self, sim: Sim) -> None:
        """Called before each trial: forgets all effects."""
        self._first.clear()
        self.calls = 0

    @property
    def all(self) -> list[Effect]:
        """Each effect once, in the order of first use."""
        return list(self._first)

    @property
    def names(self) -> list[str]:
        """The same, without keys."""
        return [effect.name for effect in self._first]

    def of(self, name: str) -> list[str]:
        """The keys that were used for this effect."""
        return [effect.key for effect in self._first if effect.name == name]
