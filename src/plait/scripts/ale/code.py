"""The instructions of the machine, and the list of them that a body becomes.

A part of a body that calls no procedures is one Python closure, its `quick` form; instructions only connect such parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import NOWHERE, Place
from .kinds import Frame, Value

Quick = Callable[[Frame], Value]
"""Gives the value of an expression in a frame."""

BRANCH = 0
"""Goes to `b` if the value of the quick `a` is false."""
TAIL_QUICK = 1
"""Leaves this body for a call: the quick head `a`, the quick tuple of arguments `b`."""
RETURN_QUICK = 2
CALL_QUICK = 3
PUSH = 4
"""Puts the value of the quick `a` on the stack of values."""
SET_QUICK = 5
"""Puts the value of the quick `b` into the slot `a`."""
CALL = 6
"""Calls what lies below `a` arguments on the stack of values."""
TAIL = 7
RETURN = 8
SET = 9
POP = 10
JUMP = 11
BRANCH_POP = 12
"""Takes a value from the stack and goes to `b` if it is false."""
KEEP_FALSE = 13
"""Goes to `b` and keeps the value if it is false, else drops it."""
KEEP_TRUE = 14
TRY = 15
"""Until the matching `END_TRY`, an error goes into the slot `a` and on to `b`."""
END_TRY = 16


class Instruction(NamedTuple):
    """`cost` is the number of steps it takes."""

    op: int
    a: Any
    b: Any
    cost: int


class Code:
    """The instructions of one body. It is filled by the compiler and not changed afterwards."""

    __slots__ = ("instructions", "places", "quick")

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.places: list[Place] = []
        self.quick: tuple[Quick, int] | None = None
        """The whole body as one closure with its cost, where that is possible: it needs no machine."""

    def add(self, op: int, a: Any = None, b: Any = None, *, cost: int = 0, place: Place = NOWHERE) -> int:
        self.instructions.append(Instruction(op, a, b, cost))
        self.places.append(place)
        return len(self.instructions) - 1

    def land(self, jump: int) -> None:
        """Lets an earlier jump arrive here."""
        self.instructions[jump] = self.instructions[jump]._replace(b=len(self.instructions))
