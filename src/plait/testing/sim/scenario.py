"""The scenario of one seed: the plans, how they end, what the engines are like, and how bad the weather is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

from .plan import AnyNode, Contest, Fail, Listen, Loop, Seq, longest, show, walk
from .planner import Planner

Ending = Literal[
    "completes",
    "fails",
    "rolls back",
    "is cancelled",
    "is cancelled and undone",
    "passes its deadline",
    "fails and is retried",
    "fails and its dead letter is retried",
    "completes and is rewound",
    "completes and is rewound twice",
    "completes and is forked",
    "completes and is undone",
]
_ENDINGS: tuple[Ending, ...] = get_args(Ending)[1:]
_QUEUED: tuple[Ending, ...] = ("completes", "fails", "rolls back")
"""Endings of runs that may wait for a slot or answer questions: the ones without timeouts or rewinds."""
_LONGEST = 1500.0
"""Longest total wait in seconds of runs that wait for each other: engines check every second whether a slot is free."""
LANE = "lane"
"""The queue that lets one run start after the other."""


@dataclass(frozen=True, slots=True)
class Root:
    """A run that a client starts."""

    id: str
    plan: AnyNode
    ending: Ending
    questions: int = 0
    """Updates that its client sends."""

    @property
    def patience(self) -> float:
        """Seconds after which the run has surely done all that it can do by itself."""
        return longest(self.plan) * 3 + 3600


@dataclass(frozen=True, slots=True)
class Weather:
    """Probabilities, for each call to the store or each quiet moment."""

    crash: float = 0.0
    unavailable: float = 0.0
    slow: int = 0
    """Rounds of the event loop that a call to the store may take."""
    steal: float = 0.0
    cut: float = 0.0
    clock: float = 0.0
    echo: float = 0.0
    """Inputs that come twice, or too late."""


@dataclass(frozen=True, slots=True)
class Scenario:
    seed: int
    roots: tuple[Root, ...]
    engines: int
    code_cache: int
    blob_threshold: int
    snapshot_every: int
    weather: Weather
    queued: bool = False
    """Its runs are started on a queue, and only one of them may run at a time."""

    def __str__(self) -> str:
        head = f"seed {self.seed}: {self.engines} engines, code_cache={self.code_cache}, queued={self.queued}, "
        head += f"blobs over {self.blob_threshold} bytes, snapshots every {self.snapshot_every} events, {self.weather}"
        return "\n".join([head, *(f"run {root.id} {root.ending}:\n{show(root.plan, 1)}" for root in self.roots)])


def draw(seed: int) -> Scenario:
    random = Random(f"scenario {seed}")
    engines = random.choice((1, 1, 2))
    roots = tuple(_root(random, number, quick=engines > 1) for number in range(random.choice((1, 1, 1, 2, 3))))
    return Scenario(
        seed,
        roots,
        engines,
        code_cache=random.choice((0, 1, 1000)),
        blob_threshold=random.choice((64, 32 * 1024)),
        snapshot_every=random.choice((3, 20, 1000)),
        weather=weather(random, engines),
        queued=_may_queue(roots) and Random(f"queue {seed}").random() < 0.5,
    )


def _may_queue(roots: Sequence[Root]) -> bool:
    short = sum(longest(root.plan) for root in roots) <= _LONGEST
    return short and all(root.ending in _QUEUED for root in roots)


def _root(random: Random, number: int, *, quick: bool) -> Root:
    ending: Ending = "completes" if random.random() < 0.6 else random.choice(_ENDINGS)
    undo = ending not in ("fails and is retried", "fails and its dead letter is retried")
    rewound = ending.startswith("completes and is rewound")
    again = rewound or ending == "completes and is forked"
    alone = ending == "completes and is forked"
    planner = Planner(random, quick=quick, undo=undo, alone=alone, chatty=not again)
    plan = planner.plan()
    if rewound and _listens_in_a_loop(plan):
        # Messages received in a trimmed iteration are not in the history any more, and can't be received again
        plan = Planner(random, quick=quick, undo=undo, alone=True, chatty=False).plan()
    match ending:
        case "fails" | "rolls back":
            plan = Seq("root", [plan, Fail("fail", rollback=ending == "rolls back")])
        case "is cancelled" | "is cancelled and undone" | "passes its deadline":
            plan = Seq("root", [plan, Listen("never", 1)])
        case "fails and is retried" | "fails and its dead letter is retried":
            plan = Seq("root", [plan, planner.failure()])
        case _:
            pass
    questions = Random(f"questions {plan}").choice((0, 0, 0, 1, 3)) if ending in _QUEUED else 0
    return Root(f"root{number}", plan, ending, questions)


def _listens_in_a_loop(plan: AnyNode) -> bool:
    loops = [node for node, _, _ in walk(plan) if isinstance(node, Loop)]
    return any(isinstance(node, Listen | Contest) for loop in loops for node, _, _ in walk(loop))


def weather(random: Random, engines: int) -> Weather:
    many = engines > 1
    return Weather(
        crash=random.choice((0.0, 0.03, 0.15)),
        unavailable=random.choice((0.0, 0.0, 0.02, 0.1)),
        slow=random.choice((0, 0, 2, 5)),
        steal=random.choice((0.0, 0.1, 0.3)) if many else 0.0,
        cut=random.choice((0.0, 0.1, 0.3)) if many else 0.0,
        clock=random.choice((0.0, 0.0, 0.02)),
        echo=random.choice((0.0, 0.1)),
    )
