"""Random workflows as data: a plan is a tree of operations, made from a seed, that one workflow function follows.

Plans are made so that their outcome does not depend on how long things take: the branch that should
win a race is faster than the others by more than any trouble can cost, messages of one name have one
reader, and what fails does so by the number of the attempt. So a disturbed run must end as a calm one.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal

import msgspec

Ends = Literal["well", "critical", "exhausted", "timeout", "silent", "broken"]
"""How a step ends. silent: its first attempt stops giving heartbeats. broken: it fails until the world is repaired."""
Undo = Literal["named", "inline", "flaky"]

FOREVER = 1_000_000_000.0
"""Seconds that no calm or disturbed run takes."""


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
    """With `asyncio.sleep` instead of `ctx.sleep`."""


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


class Approve(Node, frozen=True, tag="approve"):
    timeout: float | None = None
    required: int = 1


class Child(Node, frozen=True, tag="child"):
    plan: AnyNode
    abandon: bool = False


class Chat(Node, frozen=True, tag="chat"):
    """A child that is sent messages and answers each."""

    count: int


class First(Node, frozen=True, tag="first"):
    """The first part is quick, the others never end: waits for it, and cancels them."""

    parts: list[AnyNode]


class Pipe(Node, frozen=True, tag="pipe"):
    """One task hands the results of its parts to another, by a queue and under a lock."""

    parts: list[AnyNode]


class Version(Node, frozen=True, tag="version"):
    latest: int


class Draw(Node, frozen=True, tag="draw"):
    """A random number and a UUID of the run's own."""


class Guard(Node, frozen=True, tag="guard"):
    """Catches what its body raises, and goes on."""

    body: AnyNode


class Fail(Node, frozen=True, tag="fail"):
    rollback: bool = False
    """By RollbackError, instead of an ordinary one."""


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
    """The nodes directly inside one."""
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
    """Every node, with how often loops come to it, and whether it is in a child run."""
    yield node, times, in_child
    more = times * node.times if isinstance(node, Loop) else times
    for part in inner(node):
        yield from walk(part, more, in_child or isinstance(node, Child))


def longest(node: AnyNode) -> float:
    """Seconds that a node takes at most when it is left alone, generously."""
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
        case Chat():
            return 60.0
        case _:
            return sum(longest(part) for part in inner(node)) + 1


class Planner:
    """Draws plans. `quick` keeps all waits short, for simulations in which engines compete by leases. `undo` gives
    steps rollback handlers. `alone` needs nothing from outside. `chatty` talks to children, whose ids are fixed."""

    def __init__(self, random: Random, *, quick: bool, undo: bool, alone: bool, chatty: bool) -> None:
        self._random = random
        self._quick = quick
        self._undo = undo
        self._alone = alone
        self._chatty = chatty
        self._names = 0
        self._budget = random.choice((6, 12, 20, 30))

    def plan(self) -> AnyNode:
        return self.sequence(depth=0, child=False)

    def sequence(self, depth: int, child: bool) -> Seq:
        count = self._random.randint(1, 4 if depth else 6)
        return Seq(self._name("seq"), [self.node(depth, child) for _ in range(count)])

    def node(self, depth: int, child: bool) -> AnyNode:
        """One operation; near the end of the budget only small ones."""
        self._budget -= 1
        simple = [self._work, self._work, self._work, self._sleep, self._draw, self._version, self._failing]
        outside = [self._listen, self._listen, self._approve]
        nested = [self._gather, self._join, self._race, self._loop, self._timeout, self._child, self._first, self._pipe]
        nested += [self._chat] if self._chatty else []
        choices = (
            simple + ([] if child or self._alone else outside) + (nested if depth < 3 and self._budget > 0 else [])
        )
        return self._random.choice(choices)(depth, child)

    # -- small ones ----------------------------------------------------------------------------------------------

    def _work(self, depth: int, child: bool) -> AnyNode:
        draw = self._random
        return Work(
            self._name("work"),
            takes=draw.choice((0.0, 0.0, 0.0, 0.5, 3.0)),
            fails=draw.choice((0, 0, 0, 0, 1, 2)),
            ends=draw.choice(("well",) * 12 + ("silent",)),
            undo=draw.choice((None, None, "named", "inline", "flaky")) if self._undo else None,
            inline=draw.random() < 0.5,
            size=draw.choice((0, 0, 0, 0, 200)),
        )

    def _failing(self, depth: int, child: bool) -> AnyNode:
        ends: Ends = self._random.choice(("critical", "exhausted", "timeout"))
        return Guard(self._name("guard"), Work(self._name("work"), ends=ends))

    def _sleep(self, depth: int, child: bool) -> AnyNode:
        long = () if self._quick else (3600.0, 30 * 86_400.0)
        seconds = self._random.choice((0.0, 0.001, 1.0, 10.0, *long))
        return Sleep(self._name("sleep"), seconds, plain=self._random.random() < 0.3)

    def _draw(self, depth: int, child: bool) -> AnyNode:
        return Draw(self._name("draw"))

    def _version(self, depth: int, child: bool) -> AnyNode:
        return Version(self._name("version"), self._random.randint(1, 3))

    def _listen(self, depth: int, child: bool) -> AnyNode:
        if self._random.random() < 0.2:
            return Listen(self._name("never"), 1, timeout=self._random.choice((0.0, 5.0)))
        return Listen(self._name("listen"), self._random.randint(1, 4), batch=self._random.random() < 0.4)

    def _approve(self, depth: int, child: bool) -> AnyNode:
        name, timeout = self._name("approve"), 5.0 if self._random.random() < 0.3 else None
        return Approve(name, timeout, required=1 + self._names % 2)

    # -- those with others inside --------------------------------------------------------------------------------

    def _gather(self, depth: int, child: bool) -> AnyNode:
        parts = [self.node(depth + 1, child) for _ in range(self._random.randint(1, 4))]
        return Gather(self._name("gather"), parts, self._random.choice(("gather", "group", "completed")))

    def _join(self, depth: int, child: bool) -> AnyNode:
        parts: list[AnyNode] = [self.sequence(depth + 1, child) for _ in range(self._random.randint(0, 3))]
        if self._random.random() < 0.2:
            parts.append(Work(self._name("work"), ends=self._random.choice(("critical", "exhausted"))))
            return Guard(self._name("guard"), Join(self._name("join"), parts))
        return Join(self._name("join"), parts)

    def _race(self, depth: int, child: bool) -> AnyNode:
        if self._random.random() < 0.15:
            losers: list[AnyNode] = [Work(self._name("work"), ends="critical") for _ in range(2)]
            return Guard(self._name("guard"), Race(self._name("race"), 0, losers))
        parts = [self._endless(depth, child) for _ in range(self._random.randint(1, 3))]
        winner = self._random.randrange(len(parts) + 1)
        parts.insert(winner, self.sequence(depth + 1, child))
        return Race(self._name("race"), winner, parts)

    def _endless(self, depth: int, child: bool) -> AnyNode:
        """What never ends in time: loses every race, and is stopped by every timeout."""
        sleep = Sleep(self._name("sleep"), FOREVER)
        match self._random.randrange(10):
            case 0:
                return sleep
            case 6:
                body = Seq(self._name("seq"), [self._work(depth, child), sleep])
                return Loop(self._name("loop"), 3, body, 1, 1, 1)
            case 7:
                return Join(self._name("join"), [self._work(depth, child), sleep])
            case 8:
                return Gather(self._name("gather"), [self._work(depth, child), sleep], "group")
            case 9:
                return Race(self._name("race"), 1, [Work(self._name("work"), ends="critical"), sleep])
            case 1:
                return Listen(self._name("never"), 1, timeout=FOREVER)
            case 2:
                return Work(self._name("work"), takes=FOREVER)
            case 3:
                return Child(self._name("child"), Seq(self._name("seq"), [self._work(depth, True), sleep]))
            case 4:
                return Work(self._name("work"), ends="critical")  # a failure does not win
            case _:
                return Seq(self._name("seq"), [self._work(depth, child), sleep])

    def _loop(self, depth: int, child: bool) -> AnyNode:
        draw = self._random
        times = draw.randint(1, 4) if depth else draw.randint(1, 12)
        body = self.node(depth + 1, child) if depth else self.sequence(depth + 2, child)
        return Loop(self._name("loop"), times, body, draw.randint(1, 5), draw.randint(1, 4), draw.randint(0, 3))

    def _timeout(self, depth: int, child: bool) -> AnyNode:
        plain = self._random.random() < 0.4
        if self._random.random() < 0.5:
            endless = self._endless(depth, child)
            if isinstance(endless, Work) and endless.ends == "critical":
                return Guard(self._name("guard"), endless)
            return Guard(self._name("guard"), Timeout(self._name("timeout"), 20.0, endless, plain))
        return Timeout(self._name("timeout"), FOREVER, self.sequence(depth + 1, child), plain)

    def _child(self, depth: int, child: bool) -> AnyNode:
        plan = self.sequence(depth + 1, child=True)
        if self._random.random() < 0.25:
            plan = Seq(self._name("seq"), [plan, Fail(self._name("fail"), self._random.random() < 0.5)])
            return Guard(self._name("guard"), Child(self._name("child"), plan))
        return Child(self._name("child"), plan)

    def _first(self, depth: int, child: bool) -> AnyNode:
        endless = [self._endless(depth, child) for _ in range(self._random.randint(1, 2))]
        losers = [node for node in endless if not (isinstance(node, Work) and node.ends == "critical")]
        return First(self._name("first"), [self.sequence(depth + 1, child), *losers])

    def _pipe(self, depth: int, child: bool) -> AnyNode:
        return Pipe(self._name("pipe"), [self.node(depth + 1, child) for _ in range(self._random.randint(1, 3))])

    def _chat(self, depth: int, child: bool) -> AnyNode:
        return Chat(self._name("chat"), self._random.randint(1, 3))

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"


def show(node: AnyNode, indent: int = 0) -> str:
    """The plan as text, an operation a line."""
    shown = {"parts", "body", "plan", "name"}
    fields = {f: getattr(node, f) for f in node.__struct_fields__ if f not in shown}
    defaults = dict(zip(node.__struct_fields__[::-1], node.__struct_defaults__[::-1], strict=False))
    extra = " ".join(f"{name}={value}" for name, value in fields.items() if defaults.get(name, ...) != value)
    return "\n".join(
        [f"{'  ' * indent}{node.name} {extra}".rstrip(), *(show(part, indent + 1) for part in inner(node))]
    )
