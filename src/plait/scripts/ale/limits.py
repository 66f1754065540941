"""The limits of one script, and the meter that enforces them while it runs.

Steps are bought in small packs, so that the common case is one subtraction and one comparison; the clock is
read when a pack is used up. Core functions charge for what they visit or build before they do it.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from .errors import AleLimitError

MAX_TEXT = 64 * 1024
"""Bytes of a script."""
MAX_NESTING = 500
"""Brackets within brackets in its text."""
MAX_BITS = 4096
"""Bits of an integer, and of the parts of a ratio."""
TOO_BIG = 1 << MAX_BITS

_PACK = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run of a script."""

    steps: int = 10_000_000
    """Calls, special forms, elements visited by core functions, lazy elements created."""
    seconds: float = 5.0
    depth: int = 10_000
    """Nested calls, not counting tail calls."""
    elements: int = 1_000_000
    """Elements of one collection, and characters of one string."""
    memory: int = 512 * 1024 * 1024
    """Approximate bytes of all values built, whether or not they are still in use."""
    result: int = 1024 * 1024
    """Bytes of the result as JSON."""


DEFAULT = Limits()


class Meter:
    """Counts the resources of one run. Mutable on purpose: it is updated at every step."""

    __slots__ = ("_deadline", "_left", "fuel", "limits", "room")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.fuel = min(_PACK, limits.steps)
        """Steps left in the current pack; below zero, `refill` must be called."""
        self.room = limits.memory
        self._left = limits.steps - self.fuel
        self._deadline = 0.0

    def refill(self) -> None:
        """Takes the next pack; raises once the steps or the time are used up."""
        need = -self.fuel
        if need > self._left:
            raise AleLimitError("step_limit", "step limit exceeded")
        pack = min(need + _PACK, self._left)
        self._left -= pack
        self.fuel += pack
        now = monotonic()
        if not self._deadline:
            self._deadline = now + self.limits.seconds
        elif now > self._deadline:
            raise AleLimitError("time_limit", "time limit exceeded")

    def visit(self, count: int) -> None:
        """Charges for elements that a core function is about to visit."""
        self.fuel -= count
        if self.fuel < 0:
            self.refill()

    def hold(self, size: int) -> None:
        """Charges for bytes that are about to be built."""
        self.room -= size
        if self.room < 0:
            raise AleLimitError("memory_limit", "memory limit exceeded")

    def fits(self, count: int) -> None:
        """Refuses a collection or string with too many elements."""
        if count > self.limits.elements:
            raise AleLimitError("value_too_large", "value too large")

    def lease(self, count: int, size: int) -> Lease:
        """Charges for a copy of this many elements, as long as it is in use. Copying takes a little time, too."""
        self.fits(count)
        self.visit(count >> 5)
        return Lease(self, count * size + 64)

    def build(self, count: int, size: int) -> None:
        """Charges for a new value, given its number of elements and their size in bytes."""
        self.fits(count)
        self.hold(count * size + 64)


class Lease:
    """Memory that a value occupies and gives back when it is no longer referenced.

    Adding to an object copies it. Without this, an object could not be built key by key: the copies would use up
    the memory of a run, although only the last one is in use.
    """

    __slots__ = ("_meter", "_size")

    def __init__(self, meter: Meter, size: int) -> None:
        self._meter = meter
        self._size = 0
        meter.hold(size)
        self._size = size

    def __del__(self) -> None:
        self._meter.room += self._size
