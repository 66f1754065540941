"""Plans backwards: from the goals to the steps that provide what they need, and nothing else.

`plan` is a pure function of the catalog, the goals and the names in init; preview and start both use it. Pass 1
(`reach`) tells which steps could run. Pass 2 walks up from the goals: to all providers of an input that could run;
if none could and the input is required, to all of them, so that `required` names the deepest gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plait.dialects.goals import limits
from plait.dialects.goals.catalogs.catalog import Catalog
from plait.dialects.goals.errors import NoGoals, OverLimit
from plait.dialects.goals.steps.attribute import Attribute
from plait.dialects.goals.steps.ports import Input
from plait.dialects.goals.steps.step import Step

from .gates import UNDECIDED, Gates
from .plan import Excluded, Links, Plan
from .reach import Reach, planned_by_init

Names = frozenset[str]


def plan(
    catalog: Catalog, goals: Iterable[str], init: Mapping[str, Any] | Iterable[str], gates: Gates = UNDECIDED
) -> Plan:
    """The plan, startable or not: see `request.check_start`."""
    wanted = tuple(dict.fromkeys(goals))
    return _Children(catalog).plan(wanted, frozenset(init), level=0, gates=gates)[0]


def steps_met(catalog: Catalog, goals: Iterable[str], init: Names) -> Iterable[str]:
    """All steps that a plan may visit."""
    known = (goal for goal in goals if goal in catalog.steps)
    return Reach(catalog.graph, init, known).lacks


class _Children:
    """Plans of the run and of its flow steps' children; equal plans are made once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._made: dict[tuple[tuple[str, ...], Names, int, Gates], tuple[Plan, int]] = {}

    def plan(self, goals: tuple[str, ...], init: Names, level: int, gates: Gates = UNDECIDED) -> tuple[Plan, int]:
        """The plan, and the number of plans in it: a shared child counts at each place."""
        key = goals, init, level, gates
        if key not in self._made:
            self._made[key] = self._plan(*key)
        return self._made[key]

    def _plan(self, goals: tuple[str, ...], init: Names, level: int, gates: Gates) -> tuple[Plan, int]:
        if level > limits.CHILD_LEVELS:
            raise OverLimit("the plan", level, limits.CHILD_LEVELS, "levels of flow steps", "nest fewer")
        if not goals:
            raise NoGoals
        for goal in goals:
            self._catalog.get(goal)  # raises if it does not exist
        walk = _Walk(self._catalog, goals, init, gates)
        steps = {step_id: self._catalog.steps[step_id] for step_id in sorted(walk.steps)}
        children, count = self._children(steps, level + 1)
        attributes = _attributes(steps)
        made = Plan(
            goals=list(goals),
            steps=steps,
            attributes=attributes,
            required=sorted(walk.required),
            excluded=walk.excluded(),
            children=children,
            warnings=_warnings(walk, attributes),
            closed={step_id: names for step_id, names in walk.reach.closed.items() if step_id in steps},
        )
        return made, count

    def _children(self, steps: Mapping[str, Step], level: int) -> tuple[dict[str, Plan], int]:
        found: dict[str, Plan] = {}
        total = 1
        for step_id, step in steps.items():
            if step.flow is not None:
                found[step_id], count = self.plan(step.flow.goals, _child_init(step), level)
                total += count
        if total > limits.CHILD_PLANS:
            raise OverLimit("the plan", total, limits.CHILD_PLANS, "child plans", "nest fewer flow steps")
        return found, total


class _Walk:
    """Pass 2 of planning."""

    def __init__(self, catalog: Catalog, goals: tuple[str, ...], init: Names, gates: Gates) -> None:
        self.graph = catalog.graph
        self.goals = goals
        self.init = init
        self.steps: set[str] = set()
        self.required: set[str] = set()
        self._missing: set[str] = set()
        self._satisfied: set[str] = set()
        self._blocked: dict[str, list[str]] = {}
        self.reach = Reach(self.graph, init, (goal for goal in goals if not self._all_given(goal)), gates)
        self._todo: list[tuple[str, bool]] = [(goal, False) for goal in goals]
        self._crossed: set[tuple[str, str]] = set()
        while self._todo:
            self._visit(*self._todo.pop())

    def excluded(self) -> Excluded:
        """The steps left out. One that another path included is not; each step has one reason."""
        ports, lacks = self.graph.ports, self.reach.lacks
        missing = self._missing - self.steps
        satisfied = self._satisfied - self.steps - missing - self._blocked.keys()
        return Excluded(
            missing={each: sorted(lacks[each]) for each in sorted(missing)},
            satisfied={each: list(ports[each].outputs) for each in sorted(satisfied)},
            blocked=dict(sorted(self._blocked.items())),
        )

    def _visit(self, step_id: str, forced: bool) -> None:
        """Includes a step and follows its inputs. `forced`: wanted even if init has all its outputs."""
        if step_id in self.steps or step_id in self._blocked:
            return
        if not forced and self._all_given(step_id):
            self._satisfied.add(step_id)
            return
        if blockers := self.reach.blockers(step_id):
            self._blocked[step_id] = blockers
            return
        self.steps.add(step_id)
        demands = self.reach.demands(step_id)
        for each in self.reach.followed(step_id):
            self._follow(each, demanded=each.name in demands)

    def _follow(self, each: Input, *, demanded: bool) -> None:
        """Visits the providers of an input. Inputs that want the same name in the same way lead to the same steps."""
        way = "init" if planned_by_init(each, self.init) else f"{demanded} {each.collect}"
        if (each.name, way) in self._crossed:
            return
        self._crossed.add((each.name, way))
        if way == "init":
            self._satisfied.update(step for step in self.graph.providers(each.name) if self._all_given(step))
        else:
            self._choose(each, demanded=demanded)

    def _choose(self, each: Input, *, demanded: bool) -> None:
        able, unable = self.reach.split(each.name)
        closed = [step for step in unable if step in self.reach.closed]
        others = [step for step in unable if step not in self.reach.closed and not self._note_blocked(step)]
        forced = each.collect != "first"
        self._todo += [(step, forced) for step in closed]  # they are part of the plan, and shown as skipped
        if demanded and _lacking(each, bool(able), bool(unable), each.name in self.init):
            self._todo += [(step, forced) for step in (*able, *others)]
            if not others and not closed:
                self.required.add(each.name)
            return
        self._missing.update(others)
        if each.collect != "all" or not unable:
            self._todo += [(step, forced) for step in able]

    def _note_blocked(self, step_id: str) -> bool:
        if blockers := self.reach.blockers(step_id):
            self._blocked[step_id] = blockers
        return step_id in self._blocked

    def _all_given(self, step_id: str) -> bool:
        outputs = self.graph.ports[step_id].outputs
        return bool(outputs) and self.init.issuperset(outputs)


def _lacking(each: Input, able: bool, unable: bool, given: bool) -> bool:
    """Whether a required input has no source: neither init nor providers, some of which could run or could not."""
    match each.collect:
        case "none":
            return False
        case "all":
            return unable or not (able or given)
        case _:
            return not (able or given)


def _attributes(steps: Mapping[str, Step]) -> dict[str, Links]:
    found: dict[str, Links] = {}
    for step_id, step in steps.items():
        for name, attribute in step.attributes.items():
            if attribute.role in ("const", "meta"):
                continue
            links = found.setdefault(name, Links([], []))
            (links.providers if attribute.role == "output" else links.consumers).append(step_id)
    return dict(sorted(found.items()))


def _child_init(step: Step) -> Names:
    """What a flow step is certain to give its child, by the names that the child knows."""
    return frozenset(attribute.inner(name) for name, attribute in step.inputs() if _surely_given(attribute))


def _surely_given(attribute: Attribute) -> bool:
    if attribute.role == "optional":
        return attribute.detail.default is not None
    return attribute.detail.collect != "none"


def _warnings(walk: _Walk, attributes: Mapping[str, Links]) -> list[str]:
    found = [
        f"step '{step_id}': optional input '{each.name}' is not waited for, though "
        f"'{attributes[each.name].providers[0]}' provides it; set its deadline to wait"
        for step_id in walk.steps
        for each in walk.graph.ports[step_id].inputs
        if not each.required and each.deadline == 0
        if attributes[each.name].providers and not planned_by_init(each, walk.init)
    ]
    found += [
        f"step '{step_id}' is skipped: init has a value of '{names[0]}' that its match refuses"
        for step_id, names in walk.reach.closed.items()
        if step_id in walk.steps
    ]
    blocked = walk.excluded().blocked
    found += [
        f"goal '{goal}' is blocked: init has {', '.join(blocked[goal])}, of which it wants none"
        for goal in walk.goals
        if goal in blocked
    ]
    return sorted(found)
