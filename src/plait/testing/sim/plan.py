"""Random workflows as data: a plan is a tree of operations that one workflow function follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

Ends = Literal["well", "critical", "exhausted", "timeout", "silent", "broken"]
"""How a step ends. silent: its first attempt stops sending heartbeats. broken: it fails until the world is repaired."""
Undo = Literal["named", "inline", "flaky"]

FOREVER = 1_000_000_000.0
"""More seconds than any calm or disturbed run takes."""


class Node(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    name: str


class Work(Node, frozen=True, tag="step"):
    takes: float = 0.0
    fails: int = 0
    """How many attempts fail before one succeeds."""
    ends: Ends = "well"
    undo: Undo | None = None
    inline: bool = False
    size: int = 0
    """Bytes of padding in the result, to make it a blob."""


class Sleep(Node, frozen=True, tag="sleep"):
    seconds: float
    plain: bool = False
    """Uses `asyncio.sleep` instead of `ctx.sleep`."""


class Seq(Node, frozen=True, tag="seq"):
    parts: list[AnyNode]


class Gather(Node, frozen=True, tag="gather"):
    parts: list[AnyNode]
    how: Literal["gather", "group", "completed"] = "gather"


class Join(Node, frozen=True, tag="join"):
    parts: list[AnyNode]


class Race(Node, frozen=True, tag="race"):
    winner: int
    parts: list[AnyNode]


class Loop(Node, frozen=True, tag="loop"):
    times: int
    body: AnyNode
    commit: int
    every: int
    keep: int


class Timeout(Node, frozen=True, tag="timeout"):
    seconds: float
    body: AnyNode
    plain: bool = False


class Listen(Node, frozen=True, tag="listen"):
    """Takes `count` messages of its own name, one by one or in batches. With `timeout` none is ever sent."""

    count: int
    batch: bool = False
    timeout: float | None = None


class Contest(Node, frozen=True, tag="contest"):
    """Listens for two messages after both have arrived; one listener loses, by this cause. Then receives the unread
    one."""

    how: Literal["race", "wait", "timeout", "group"]


class Approve(Node, frozen=True, tag="approve"):
    timeout: float | None = None
    required: int = 1


class Child(Node, frozen=True, tag="child"):
    plan: AnyNode
    abandon: bool = False
    id: Literal["own", "fixed", "taken"] = "own"
    """own: newly generated. fixed: given, and taken after a rewind. taken: that of its parent."""


class Chat(Node, frozen=True, tag="chat"):
    """A child that answers each message that it is sent."""

    count: int


class First(Node, frozen=True, tag="first"):
    """The first part is quick, the others never end: waits for the first, and cancels the others."""

    parts: list[AnyNode]


class Pipe(Node, frozen=True, tag="pipe"):
    """One task passes the results of its parts to another, through a queue and under a lock."""

    parts: list[AnyNode]


class Version(Node, frozen=True, tag="version"):
    latest: int


class Draw(Node, frozen=True, tag="draw"):
    """A random number and a UUID from the run's own source."""


class Guard(Node, frozen=True, tag="guard"):
    """Catches what its body raises, and continues."""

    body: AnyNode
    lets_pass: bool = False
    """Catches only a timeout."""


class Fail(Node, frozen=True, tag="fail"):
    rollback: bool = False
    """Raises RollbackError instead of an ordinary error."""


AnyNode = (
    Work
    | Sleep
    | Seq
    | Gather
    | Join
    | Race
    | Loop
    | Timeout
    | Listen
    | Contest
    | Approve
    | Child
    | Chat
    | First
    | Pipe
    | Version
    | Draw
    | Guard
    | Fail
)


def inner(node: AnyNode) -> list[AnyNode]:
    """The nodes directly inside a node."""
    match node:
        case Seq() | Gather() | Join() | Race() | First() | Pipe():
            return node.parts
        case Loop() | Timeout() | Guard():
            return [node.body]
        case Child():
            return [node.plan]
        case _:
            return []


def walk(node: AnyNode, times: int = 1, in_child: bool = False) -> Iterator[tuple[AnyNode, int, bool]]:
    """Every node, with how often loops reach it, and whether it is in a child run."""
    yield node, times, in_child
    more = times * node.times if isinstance(node, Loop) else times
    for part in inner(node):
        yield from walk(part, more, in_child or isinstance(node, Child))


def beside_fixed_children(plan: AnyNode) -> set[str]:
    """Names of nodes that may come before or after a child with an id of its own, depending on timing. A run that is
    rewound to one of them may find the child's id taken, or have its result."""
    at_once = [node for node, _, _ in walk(plan) if isinstance(node, Gather | First)]
    luck = [[part for part, _, _ in walk(node)] for node in at_once]
    return {
        part.name
        for parts in luck
        if any(isinstance(part, Child) and part.id == "fixed" for part in parts)
        for part in parts
    }


def longest(node: AnyNode) -> float:
    """A generous upper bound, in seconds, for an undisturbed node."""
    match node:
        case Work():
            attempts = 4 if node.ends in ("exhausted", "silent", "broken") else node.fails + 1
            return attempts * (node.takes + 10)
        case Sleep():
            return node.seconds
        case Listen() | Approve():
            return 60.0 if node.timeout is None else node.timeout
        case Timeout():
            return min(node.seconds, longest(node.body))
        case Race():
            return longest(node.parts[node.winner])
        case First():
            return longest(node.parts[0])
        case Loop():
            return node.times * longest(node.body)
        case Chat() | Contest():
            return 60.0
        case _:
            return sum(longest(part) for part in inner(node)) + 1


def show(node: AnyNode, indent: int = 0) -> str:
    """The plan as text, one operation per line."""
    shown = {"parts", "body", "plan", "name"}
    fields = {f: getattr(node, f) for f in node.__struct_fields__ if f not in shown}
    defaults = dict(zip(node.__struct_fields__[::-1], node.__struct_defaults__[::-1], strict=False))
    extra = " ".join(f"{name}={value}" for name, value in fields.items() if defaults.get(name, ...) != value)
    return "\n".join(
        [f"{'  ' * indent}{node.name} {extra}".rstrip(), *(show(part, indent + 1) for part in inner(node))]
    )
