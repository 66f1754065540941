"""Random catalogs, small and dense, so that steps compete, lack inputs, close circles and block each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from plait.dialects.goals.catalogs.catalog import Catalog, CatalogEvent
from plait.dialects.goals.catalogs.registering import register, unregister, update, upsert
from plait.dialects.goals.errors import GoalsError
from plait.dialects.goals.steps.reading import read_step
from plait.dialects.goals.steps.step import Step
from tests.support.effort import examples

COUNT = examples(40)

many = settings(max_examples=COUNT, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
long = pytest.mark.timeout(max(60, COUNT // 10))

IDS = [f"s{number}" for number in range(7)]
NAMES = list("abcdefg")

_REQUIRED = {"role": "required"}
_OUTPUT = {"role": "output"}
_MATCH = {"language": "ale", "script": "true"}
SIMPLE: list[dict[str, Any] | None] = [
    *[None] * 8,
    *[_REQUIRED] * 3,
    *[_OUTPUT] * 4,
    {"role": "optional"},
    {"role": "optional", "default": "1", "deadline": -1},
]
COLLECTING: list[dict[str, Any] | None] = [
    *SIMPLE,
    *({"role": "required", "collect": each} for each in ("last", "some", "all", "none")),
    *({"role": "optional", "collect": each, "deadline": 5} for each in ("some", "all", "none")),
]
GATED: list[dict[str, Any] | None] = [
    *COLLECTING,
    *({"role": "required", "collect": each, "match": _MATCH} for each in ("first", "some", "all", "none")),
]
TYPED: list[dict[str, Any] | None] = [
    *SIMPLE,
    *({**each, "type": kind} for each in (_REQUIRED, _OUTPUT) for kind in ("string", "number")),
]


@dataclass(frozen=True)
class Case:
    catalog: Catalog
    goals: list[str]
    init: list[str]


def step_of(id: str, attributes: dict[str, dict[str, Any]], goals: list[str]) -> Step:
    config = {"type": "flow", "flow": {"goals": goals}} if goals else {"type": "python", "python": {"handler": "h"}}
    return read_step({"id": id, "name": id, "attributes": attributes, **config})


@st.composite
def steps(draw: st.DrawFn, kinds: list[dict[str, Any] | None], ids: list[str], goals: list[str]) -> Step:
    """One of these ids; every fourth is a flow with some of these goals."""
    id = draw(st.sampled_from(ids))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=len(NAMES), max_size=len(NAMES)))
    attributes = {name: each for name, each in zip(NAMES, chosen, strict=True) if each is not None}
    flow = bool(goals) and draw(st.sampled_from([False, False, False, True]))
    chosen_goals = draw(st.lists(st.sampled_from(goals), min_size=1, max_size=2, unique=True)) if flow else []
    return step_of(id, attributes, chosen_goals)


@st.composite
def cases(draw: st.DrawFn, kinds: list[dict[str, Any] | None] = COLLECTING) -> Case:
    """A catalog of steps that were let in, some goals of it and some names in init. Every flow goal is there."""
    catalog = Catalog()
    for id in IDS:
        refusal(catalog, ("register", draw(steps(kinds, [id], sorted(catalog.steps)))))
    goals = draw(st.lists(st.sampled_from(sorted(catalog.steps)), min_size=1, max_size=2, unique=True))
    init = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
    return Case(catalog, goals, init)


Change = tuple[Literal["register", "update", "upsert", "unregister"], Step]

FEW_IDS = ["s0", "s1", "s2", "s3"]
changes = st.lists(
    st.tuples(
        st.sampled_from(["register", "upsert", "upsert", "update", "unregister"]), steps(TYPED, FEW_IDS, FEW_IDS)
    ),
    max_size=8,
)


def _events(catalog: Catalog, change: Change) -> list[CatalogEvent]:
    way, step = change
    match way:
        case "register":
            return register(catalog, step)
        case "update":
            return update(catalog, step)
        case "upsert":
            return upsert(catalog, step)
        case "unregister":
            return unregister(catalog, step.id).events


def refusal(catalog: Catalog, change: Change) -> GoalsError | None:
    """Why it was refused; else the catalog has changed."""
    try:
        events = _events(catalog, change)
    except GoalsError as error:
        return error
    for event in events:
        catalog.apply(event)
    return None
