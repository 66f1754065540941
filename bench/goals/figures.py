"""What is measured, and how: the median and the worst of repeated samples, in milliseconds of the clock."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.catalogs.cycles import find_cycle
from plait.dialects.goals.catalogs.registering import register, update
from plait.dialects.goals.planning.planner import plan
from plait.dialects.goals.steps.ports import ports_of
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step, emitted

from .catalogs import filled, made, waist

CATALOG = 10_000
UPSTREAM = (100, 200, 400, 800)
REGISTER_LIMIT = 5.0
PLAN_LIMIT = 20.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement; with a limit, whether its median keeps it. `per_step` is µs a step met, where that matters."""

    name: str
    median: float
    worst: float
    limit: float | None = None
    per_step: float | None = None

    @property
    def met(self) -> bool:
        return self.limit is None or self.median <= self.limit


def measure(samples: int) -> list[Figure]:
    catalog = filled(CATALOG, 200)
    return [
        *_changes(catalog, samples),
        _figure("plan: 200 steps upstream", samples, lambda: plan(catalog, ["asked-goal"], {}), PLAN_LIMIT),
        *(_linear(upstream, samples) for upstream in UPSTREAM),
        _waist(samples),
    ]


def _changes(catalog: Catalog, samples: int) -> list[Figure]:
    """A change is all that it takes: reading what was sent, the checks, the fold; the catalog is put back after."""
    sent = emitted(made("one-more", ["asked.100", "other3.7"], ["fresh"]))
    fed = emitted(made("one-more", ["asked.199"], ["other3.7"]))
    old = catalog.steps["asked-100"]
    changed = emitted(made("asked-100", ["asked.90"], ["asked.100"]))
    return [
        _change("register: one more, at the rim", samples, catalog, sent),
        _change("register: one more, in the middle", samples, catalog, fed),
        _update("update: a step in the middle", samples, catalog, changed, old),
        _figure("copy: a snapshot of the catalog", samples, catalog.copy),
    ]


def _change(name: str, samples: int, catalog: Catalog, sent: dict[str, object]) -> Figure:
    def once() -> None:
        for event in register(catalog, read_step(sent)):
            catalog.apply(event)

    return _figure(name, samples, once, REGISTER_LIMIT, undo=lambda: catalog._drop("one-more"))  # pyright: ignore[reportPrivateUsage]


def _update(name: str, samples: int, catalog: Catalog, sent: dict[str, object], old: Step) -> Figure:
    def to(step: Step) -> None:
        for event in update(catalog, step):
            catalog.apply(event)

    return _figure(name, samples, lambda: to(read_step(sent)), REGISTER_LIMIT, undo=lambda: to(old))


def _linear(upstream: int, samples: int) -> Figure:
    catalog = filled(CATALOG, upstream)
    found = _figure(f"plan: {upstream} steps upstream", samples, lambda: plan(catalog, ["asked-goal"], {}))
    return Figure(found.name, found.median, found.worst, per_step=found.median * 1000 / (upstream + 1))


def _waist(samples: int) -> Figure:
    catalog, between = waist(CATALOG)
    ports = ports_of(between)
    return _figure(
        "circle check: 5,000 above, 5,000 below", samples, lambda: find_cycle(catalog.graph, between.id, ports)
    )


def _figure(
    name: str,
    samples: int,
    call: Callable[[], object],
    limit: float | None = None,
    undo: Callable[[], object] | None = None,
) -> Figure:
    """Each sample is one call. The garbage collector stays on, as it is in an engine; what was built before is frozen
    so that a sample pays for its own garbage only."""
    gc.collect()
    gc.freeze()
    taken: list[float] = []
    for _ in range(samples):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) * 1000)
        if undo is not None:
            undo()
    gc.unfreeze()
    return Figure(name, statistics.median(taken), max(taken), limit)
