"""The rows of the raw limits: what an engine cannot avoid writing, made before the clock starts.

A step is two events of about 120 bytes of JSON, opened and closed. A run adds one at its start and one at its end. The
close of a step and the opening of the next go into one commit, as in an engine that wastes none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

Row = tuple[str, int, str]
"""Run id, sequence number, event."""
Batch = list[Row]
"""The rows of one commit."""

_AT = 1_700_000_000_000


def runs_in_step(prefix: str, runs: int, steps: int, level: int) -> Iterator[Batch]:
    """Commits of ``runs`` sequential runs of which ``level`` at a time move in step."""
    for first in range(0, runs, level):
        names = [f"{prefix}-{number}" for number in range(first, min(first + level, runs))]
        yield from _merged(_commits_of_run(name, steps) for name in names)


def wide_run(name: str, width: int) -> Iterator[Batch]:
    """Commits of one run whose steps are all opened together, and all closed together."""
    yield [started(name, 1), *(opened(name, 2 + number, number) for number in range(width))]
    yield [*(closed(name, 2 + width + number, number) for number in range(width)), ended(name, 2 + 2 * width)]


def sleepers(prefix: str, runs: int, level: int) -> Iterator[Batch]:
    """Commits that start runs which sleep at once."""
    for first in range(0, runs, level):
        names = [f"{prefix}-{number}" for number in range(first, min(first + level, runs))]
        yield [row for name in names for row in (started(name, 1), opened(name, 2, 0))]


def history(name: str, steps: int, first: int = 1) -> Batch:
    """The events of ``steps`` finished steps of a run."""
    pairs = ((opened(name, first + 2 * i, i), closed(name, first + 2 * i + 1, i)) for i in range(steps))
    return [row for pair in pairs for row in pair]


def _commits_of_run(name: str, steps: int) -> Iterator[Batch]:
    yield [started(name, 1), opened(name, 2, 0)]
    for number in range(steps - 1):
        yield [closed(name, 3 + 2 * number, number), opened(name, 4 + 2 * number, number + 1)]
    yield [closed(name, 1 + 2 * steps, steps - 1), ended(name, 2 + 2 * steps)]


def _merged(runs: Iterable[Iterator[Batch]]) -> Iterator[Batch]:
    """Runs of equal length that move together: their first commits as one, then their second, and so on."""
    for batches in zip(*runs, strict=True):
        yield [row for batch in batches for row in batch]


def started(run: str, seq: int) -> Row:
    return run, seq, json.dumps({"type": "run.started", "at": _AT, "definition": "sequential", "input": 10, "v": 1})


def opened(run: str, seq: int, number: int) -> Row:
    event = {"type": "op.opened", "at": _AT, "op": [number], "kind": "step", "name": f"s{number}", "args": [number]}
    return run, seq, json.dumps({**event, "timeout_ms": 30_000})


def closed(run: str, seq: int, number: int) -> Row:
    event = {"type": "op.closed", "at": _AT, "op": [number], "status": "completed", "attempt": 1, "result": number}
    return run, seq, json.dumps({**event, "took_ms": 0})


def ended(run: str, seq: int) -> Row:
    return run, seq, json.dumps({"type": "run.completed", "at": _AT, "output": 45, "steps": 10, "took_ms": 0})
