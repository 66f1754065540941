"""What the ledger and the logs say after processes were killed or frozen."""

import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from plait.testing import history
from plait.testing.history import HasEvents

from .work import STEPS_OF_SUMMING, Entry, entries, keys_by_step

_SECOND = 1e9


@dataclass(frozen=True)
class Blow:
    """A process was killed or frozen."""

    pid: int
    at: int
    """Nanoseconds, by the ledger's clock."""


def assert_every_step_ran_under_one_key(
    ledger: Path, runs: int, steps: tuple[str, ...] = STEPS_OF_SUMMING, name: str = "sum"
) -> None:
    keys = keys_by_step(ledger)
    expected = {f"{name}-{number}/{path}" for number in range(runs) for path in steps}
    assert set(keys) == expected
    assert all(len(found) == 1 for found in keys.values())
    assert len(set.union(*keys.values())) == len(expected)


def repeated(ledger: Path) -> int:
    """How many steps began again."""
    found = entries(ledger)
    return len(found) - len({entry.path for entry in found})


def runs_resumed_after(found: Iterable[Entry], blows: Iterable[Blow]) -> list[float]:
    """Of runs that an engine had under way when it was struck: seconds until the next step began elsewhere."""
    return _resumed_after(found, blows, lambda entry: entry.run_id)


def steps_resumed_after(found: Iterable[Entry], blows: Iterable[Blow]) -> list[float]:
    """Of steps that a worker had under way when it was struck: seconds until another began them again."""
    return _resumed_after(found, blows, lambda entry: entry.path)


def _resumed_after(found: Iterable[Entry], blows: Iterable[Blow], key: Callable[[Entry], str]) -> list[float]:
    struck = defaultdict[int, list[int]](list)
    for blow in blows:
        struck[blow.pid].append(blow.at)
    groups = defaultdict[str, list[Entry]](list)
    for entry in sorted(found, key=lambda entry: entry.at):
        groups[key(entry)].append(entry)
    return [
        (after.at - at) / _SECOND
        for group in groups.values()
        for before, after in pairwise(group)
        if after.pid != before.pid
        for at in struck[before.pid]
        if before.at <= at < after.at
    ]


async def recorded_twice(handles: Iterable[HasEvents]) -> int:
    """Runs with a fact in their log twice, or with a gap; each is shown."""
    wrong = 0
    for handle in handles:
        try:
            (await history(handle)).assert_recorded_once()
        except AssertionError:
            traceback.print_exc()
            wrong += 1
    return wrong
