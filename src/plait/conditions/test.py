"""The compiled form of a condition; each type has its own."""

from __future__ import annotations

from typing import Protocol

import msgspec

from .budget import Budget
from .facts import Facts, SandboxCall
from .verdict import Verdict


class Read(msgspec.Struct, frozen=True):
    """A node that a condition reads."""

    node: str
    shown: str
    """The reference as written: `ctx.score`, `@score`."""
    pointer: str
    """Its place, relative to the condition."""


class Reads(msgspec.Struct, frozen=True):
    nodes: tuple[Read, ...] = ()
    every_node: bool = False
    """The nodes that it reads are not known in advance."""

    def __add__(self, other: Reads) -> Reads:
        return Reads((*self.nodes, *other.nodes), self.every_node or other.every_node)


NOTHING = Reads()


class Test(Protocol):
    @property
    def reads(self) -> Reads: ...

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        """Raises `SandboxWanted` if `facts` lack an answer that it needs; everything else is a verdict."""
        ...


class SandboxWanted(Exception):
    """The evaluation has reached code for a sandbox; it can be restarted with the answer."""

    def __init__(self, call: SandboxCall) -> None:
        super().__init__()
        self.call = call
