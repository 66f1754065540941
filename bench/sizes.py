"""How much of each work is done.

Rates and medians may be taken from fewer runs on a slow subject without changing their meaning, so peers get smaller
counts and the whole bench ends in minutes. Works whose figure is a duration (W2, W4) have the same size for everyone.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Sizes:
    levels: tuple[int, ...]
    """Runs at once, tried one after the other in W1 and W3; the best one is the figure."""
    runs: int
    """Runs at each level of W1 and W3."""
    alone: int
    """Runs of W1 one at a time."""
    width: int
    """Parallel steps of W2."""
    wide_runs: int
    """Runs of W2, to take the median of."""
    in_flight: int
    """Runs that W4 kills."""
    sleepers: int
    """Runs that W5 puts to sleep."""
    idle_seconds: float
    """How long W5 watches the idle engine."""
    history: int
    """Steps behind the run that W6 reopens; two events each."""
    lengths: tuple[int, ...]
    """Steps in one run, from short to long, for W6's cost per step."""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Sizes:
        fields: dict[str, Any] = json.loads(text)
        fields["levels"] = tuple(fields["levels"])
        fields["lengths"] = tuple(fields["lengths"])
        return Sizes(**fields)


_FULL = Sizes(
    levels=(),
    runs=0,
    alone=200,
    width=1000,
    wide_runs=3,
    in_flight=1000,
    sleepers=100_000,
    idle_seconds=5.0,
    history=25_000,
    lengths=(10, 100, 1000, 10_000),
)
_QUICK = replace(
    _FULL, alone=50, in_flight=100, sleepers=5_000, idle_seconds=2.0, history=5_000, lengths=(10, 100, 1000)
)
_FULL_PEER = replace(_FULL, alone=20, wide_runs=1, sleepers=2_000, history=2_500, lengths=(10, 100, 1000))
_QUICK_PEER = replace(_QUICK, alone=20, wide_runs=1, sleepers=300, history=500, lengths=(10, 100))


def sizes_for(levels: tuple[int, ...], runs: int, *, quick: bool, peer: bool) -> Sizes:
    """The sizes of a subject that does ``runs`` runs at each of its ``levels`` of concurrency in a full bench."""
    match quick, peer:
        case False, False:
            return replace(_FULL, levels=levels, runs=runs)
        case False, True:
            return replace(_FULL_PEER, levels=levels, runs=runs)
        case True, False:
            return replace(_QUICK, levels=levels, runs=runs // 4)
        case _:
            return replace(_QUICK_PEER, levels=levels, runs=runs // 8)
