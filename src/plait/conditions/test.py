"""The compiled form of a condition, as each type has its own."""

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
    """As it is written: `ctx.score`, `@score`."""
    pointer: str
    """Where, from the condition on."""


class Reads(msgspec.Struct, frozen=True):
    nodes: tuple[Read, ...] = ()
    every_node: bool = False
    """It is not known before which ones it reads."""

    def __add__(self, other: Reads) -> Reads:
        return Reads((*self.nodes, *other.nodes), self.every_node or other.every_node)


NOTHING = Reads()


class Test(Protocol):
    @property
    def reads(self) -> Reads: ...

    def verdict(self, facts: Facts, budget: Budget) -> Verdict:
        """Raises `SandboxWanted` where it needs an answer that `facts` lacks; all else is a verdict."""
        ...


class SandboxWanted(Exception):
    """The evaluation has come to code for a sandbox; with the answer it can start again."""

    def __init__(self, call: SandboxCall) -> None:
        super().__init__()
        self.call = call
