"""Draws plans from a seed.

Plans are made so that their outcome does not depend on timing: the branch that should win a race is faster than the
others by more than any trouble can cost, messages of one name have one reader, and failures depend only on the attempt
number. So a disturbed run must end like a calm one.
"""

from __future__ import annotations

from random import Random

from .plan import (
    FOREVER,
    AnyNode,
    Approve,
    Chat,
    Child,
    Contest,
    Draw,
    Ends,
    Fail,
    First,
    Gather,
    Guard,
    Join,
    Listen,
    Loop,
    Pipe,
    Race,
    Seq,
    Sleep,
    Timeout,
    Version,
    Work,
)


class Planner:
    """Draws plans. `quick` keeps all waits short, for simulations in which engines compete for leases. `undo` gives
    steps rollback handlers. `alone` needs nothing from outside. `chatty` messages children, whose ids are fixed."""

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

    def failure(self) -> AnyNode:
        """A step that is broken until the world is repaired, alone or beside others that its failure stops."""
        broken = Work("broken", ends="broken")
        siblings: list[AnyNode] = [self._work(0, False), Work(self._name("work"), takes=300.0), self._work(0, False)]
        group = Gather(self._name("gather"), [*siblings, broken], self._random.choice(("gather", "group")))
        match self._random.randrange(8):
            case 0:
                return group
            case 1:
                return Loop(self._name("loop"), 2, group, 1, 1, 1)
            case 2:
                return Join(self._name("join"), [group, *siblings[:1]])
            case 3:
                return Race(self._name("race"), 0, [group])
            case 4:
                stopped = Seq(self._name("seq"), [broken, Listen("never", 1)])
                timeout = Timeout(self._name("timeout"), 2000.0, stopped, plain=self._random.random() < 0.5)
                return Guard(self._name("guard"), timeout, lets_pass=True)
            case 5:
                child = Child(self._name("child"), Seq(self._name("seq"), [self._work(0, True), siblings[1]]))
                return Gather(self._name("gather"), [child, broken], "group")
            case _:
                return broken

    def sequence(self, depth: int, child: bool) -> Seq:
        count = self._random.randint(1, 4 if depth else 6)
        return Seq(self._name("seq"), [self.node(depth, child) for _ in range(count)])

    def node(self, depth: int, child: bool) -> AnyNode:
        """One operation; a small one near the end of the budget."""
        self._budget -= 1
        simple = [self._work, self._work, self._work, self._sleep, self._draw, self._version, self._failing]
        outside = [self._listen, self._listen, self._contest, self._approve]
        nested = [self._gather, self._join, self._race, self._loop, self._timeout, self._child, self._first, self._pipe]
        nested += [self._conflict] + ([self._chat] if self._chatty else [])
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

    def _contest(self, depth: int, child: bool) -> AnyNode:
        return Contest(self._name("contest"), self._random.choice(("race", "wait", "timeout", "group")))

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
        """Something that never ends in time: loses every race, and is stopped by every timeout."""
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

    def _conflict(self, depth: int, child: bool) -> AnyNode:
        """Two children; either both or none get the ids they ask for."""
        id = self._random.choice(("fixed", "taken"))
        parts: list[AnyNode] = [
            Guard(self._name("guard"), Child(self._name("child"), self._work(depth, True), id=id)) for _ in range(2)
        ]
        return Seq(self._name("seq"), parts)

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
