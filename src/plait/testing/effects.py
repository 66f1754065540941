"""What the steps of a workflow did to the world, each with its idempotency key.

A crash may make a step run again, but only with the key that it had: whoever it calls can tell that it is the same.
So what counts is which keys were used for what, in which order they were first used, and not how often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plait.kernel.task import current_attempt

if TYPE_CHECKING:
    from .sim.simulator import Sim


class Effect(NamedTuple):
    """Something that a step did, and the idempotency key it had then."""

    name: str
    key: str


class Effects:
    """Steps `note` what they do. With `survives_every_crash(..., effects=...)` they are compared after each crash."""

    def __init__(self) -> None:
        self._first: dict[Effect, None] = {}
        self.calls = 0
        """How often something was done, again after a crash included."""

    def note(self, name: str) -> Effect:
        """Called by a step: this is about to be done."""
        attempt = current_attempt.get()
        if attempt is None:
            raise RuntimeError("only a step that a workflow calls has an idempotency key")
        effect = Effect(name, attempt.task.key)
        self.calls += 1
        self._first.setdefault(effect)
        return effect

    def begin(self, sim: Sim) -> None:
        """Called before each run that is crashed: nothing has been done yet."""
        self._first.clear()
        self.calls = 0

    @property
    def all(self) -> list[Effect]:
        """Each once, in the order in which they were first done."""
        return list(self._first)

    @property
    def names(self) -> list[str]:
        """The same, without keys."""
        return [effect.name for effect in self._first]

    def of(self, name: str) -> list[str]:
        """The keys that were used for it."""
        return [effect.key for effect in self._first if effect.name == name]
