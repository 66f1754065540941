"""The instructions of the machine, and the instruction list of a body.

A part of a body that calls no procedures is one Python closure, its `quick` form; instructions only connect such parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import NOWHERE, Place
from .kinds import Frame, Value

Quick = Callable[[Frame], Value]
"""Returns the value of an expression in a frame."""

BRANCH = 0
"""Jumps to `b` if the value of the quick `a` is false."""
TAIL_QUICK = 1
"""Leaves this body for a call: the quick head `a`, the quick tuple of arguments `b`."""
RETURN_QUICK = 2
CALL_QUICK = 3
PUSH = 4
"""Pushes the value of the quick `a` onto the value stack."""
SET_QUICK = 5
"""Stores the value of the quick `b` in the slot `a`."""
CALL = 6
"""Calls the value below the top `a` arguments of the value stack."""
TAIL = 7
RETURN = 8
SET = 9
POP = 10
JUMP = 11
BRANCH_POP = 12
"""Pops a value and jumps to `b` if it is false."""
KEEP_FALSE = 13
"""Keeps the top value and jumps to `b` if it is false, else drops it."""
KEEP_TRUE = 14
TRY = 15
"""Until the matching `END_TRY`, an error is stored in the slot `a` and execution continues at `b`."""
END_TRY = 16


class Instruction(NamedTuple):
    """`cost` is the number of steps it takes."""

    op: int
    a: Any
    b: Any
    cost: int


class Code:
    """The instructions of one body. Filled by the compiler and not changed afterwards."""

    __slots__ = ("instructions", "places", "quick")

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.places: list[Place] = []
        self.quick: tuple[Quick, int] | None = None
        """The whole body as one closure with its cost, if possible: it then needs no machine."""

    def add(self, op: int, a: Any = None, b: Any = None, *, cost: int = 0, place: Place = NOWHERE) -> int:
        self.instructions.append(Instruction(op, a, b, cost))
        self.places.append(place)
        return len(self.instructions) - 1

    def land(self, jump: int) -> None:
        """Sets the target of an earlier jump to this point."""
        self.instructions[jump] = self.instructions[jump]._replace(b=len(self.instructions))
