"""A second planner and a second check for circles, slow and plain, written from the text of the spec over the whole
catalog.

It shares nothing with the first but the stored steps: no graph, no counting, no order of visits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from plait.dialects.goals.steps.step import Step

Steps = Mapping[str, Step]


@dataclass
class Expected:
    steps: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    missing: dict[str, list[str]] = field(default_factory=dict)
    satisfied: dict[str, list[str]] = field(default_factory=dict)
    blocked: dict[str, list[str]] = field(default_factory=dict)


def outputs(step: Step) -> list[str]:
    return sorted(name for name, each in step.attributes.items() if each.role == "output")


def wanted(step: Step) -> dict[str, tuple[bool, str]]:
    """Name -> whether the step demands it, and how it is collected. Behind a gate it demands only the gate's inputs."""
    found, gated = step.attributes.items(), gates(step)
    return {
        name: (each.role == "required" and (not gated or name in gated), each.detail.collect)
        for name, each in found
        if each.role in ("required", "optional")
    }


def gates(step: Step) -> set[str]:
    """Inputs whose values a `match` judges; of none is known yet what it will say."""
    return {name for name, each in step.attributes.items() if each.detail.match is not None}


def providers(steps: Steps, name: str) -> list[str]:
    return [id for id in sorted(steps) if name in outputs(steps[id])]


def lacking(steps: Steps, step: Step, init: Collection[str], able: Collection[str]) -> list[str]:
    """The required inputs that a step would lack, if just these steps were able to run."""
    found: list[str] = []
    for name, (required, collect) in sorted(wanted(step).items()):
        given = name in init
        theirs = [id in able for id in providers(steps, name)]
        match collect:
            case "none":
                has = not given or name in gates(step)
            case "all":
                has = all(theirs) and (given or any(theirs))
            case _:
                has = given or any(theirs)
        if required and not has:
            found.append(name)
    return found


def satisfiable(steps: Steps, init: Collection[str]) -> set[str]:
    able: set[str] = set()
    while True:
        more = {id for id, step in steps.items() if not lacking(steps, step, init, able)}
        if more == able:
            return able
        able = more


def blockers(step: Step, init: Collection[str]) -> list[str]:
    return sorted(
        name
        for name, each in step.attributes.items()
        if each.role == "required" and each.detail.collect == "none" and name not in gates(step) and name in init
    )


def reference_plan(steps: Steps, goals: Collection[str], init: Collection[str]) -> Expected:
    able = satisfiable(steps, init)
    found = Expected()
    todo = [(goal, False) for goal in goals]
    done: set[tuple[str, bool]] = set()

    def all_given(id: str) -> bool:
        return bool(outputs(steps[id])) and set(outputs(steps[id])) <= set(init)

    def follow(name: str, required: bool, collect: str) -> None:
        theirs = providers(steps, name)
        if collect == "first" and name in init:
            found.satisfied.update({id: outputs(steps[id]) for id in theirs if all_given(id)})
            return
        shut = {id: names for id in theirs if (names := blockers(steps[id], init))}
        found.blocked.update(shut)
        good = [id for id in theirs if id in able]
        bad = [id for id in theirs if id not in able and id not in shut]
        broken = collect == "all" and len(good) < len(theirs)
        without = collect != "none" and (broken or not (good or name in init))
        if required and without:
            todo.extend((id, collect != "first") for id in (*good, *bad))
            if not bad:
                found.required.add(name)
            return
        found.missing.update({id: lacking(steps, steps[id], init, able) for id in bad})
        if not broken:
            todo.extend((id, collect != "first") for id in good)

    while todo:
        id, forced = todo.pop()
        if (id, forced) in done:
            continue
        done.add((id, forced))
        if not forced and all_given(id):
            found.satisfied[id] = outputs(steps[id])
        elif names := blockers(steps[id], init):
            found.blocked[id] = names
        else:
            found.steps.add(id)
            for name, (required, collect) in wanted(steps[id]).items():
                follow(name, required, collect)
    return _one_reason_each(found)


def _one_reason_each(found: Expected) -> Expected:
    """A step that came in by one way is in, whatever another way said; of the reasons the strongest stands."""
    found.missing = {id: names for id, names in found.missing.items() if id not in found.steps}
    others = found.steps | found.missing.keys() | found.blocked.keys()
    found.satisfied = {id: names for id, names in found.satisfied.items() if id not in others}
    return found


def depends_on(all: Steps, step: Step) -> set[str]:
    """The steps that it needs itself."""
    goals = step.flow.goals if step.flow is not None else ()
    return {id for name in wanted(step) for id in providers(all, name)} | {goal for goal in goals if goal in all}


def comes_back(all: Steps, start: str) -> bool:
    """Whether a step depends on itself."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        new = depends_on(all, all[todo.pop()]) - seen
        seen |= new
        todo += new
    return start in seen
