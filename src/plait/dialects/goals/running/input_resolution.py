"""How an input of a step stands: whether it can be had now, may still come, or never will; and what it is.

Candidates are the values of its name, in order of arrival, init's among them; `match` lets only some of them count.
"""

from __future__ import annotations

from typing import Literal, assert_never

import msgspec
from msgspec import Raw

from .compiled_plan import StepPlan, Wanted
from .flow import Flow
from .state import StepState, Value

Standing = Literal["resolved", "open", "lost", "unmatched", "refused"]
"""lost: nobody can give it any more. unmatched: there are values, but not those it wants. refused: it wants none, and
there is one."""

_encode = msgspec.json.Encoder().encode


def standing(flow: Flow, step: StepState, wanted: Wanted) -> Standing:
    values = flow.values(wanted.name)
    if wanted.collect == "first" and wanted.match is None:  # by far the most common
        return "resolved" if values else "open" if _may_come(flow, wanted.name) else "lost"
    good = candidates(step, wanted, values)
    undecided = wanted.match is not None and len(step.matches.get(wanted.name, ())) < len(values)
    more = undecided or _may_come(flow, wanted.name)
    match wanted.collect:
        case "first":
            return "resolved" if good else "open" if more else _empty(values)
        case "last" | "some":
            return "open" if more else "resolved" if good else _empty(values)
        case "all":
            return _all(flow, step, wanted, more)
        case "none":
            if good:
                return "refused" if wanted.match is None else "unmatched"
            return "open" if more else "resolved"
        case _:
            assert_never(wanted.collect)


def candidates(step: StepState, wanted: Wanted, values: list[Value]) -> list[Value]:
    """Those that count."""
    if wanted.match is None:
        return values
    judged = step.matches.get(wanted.name, {})
    return [value for index, value in enumerate(values) if judged.get(index)]


def value_of(flow: Flow, step: StepState, wanted: Wanted) -> Raw | None:
    """What the step gets if it starts now; None: nothing, not even a default."""
    good = candidates(step, wanted, flow.values(wanted.name))
    match wanted.collect:
        case "first":
            return good[0].value if good else wanted.default
        case "last":
            return good[-1].value if good else wanted.default
        case "some":
            return _listed(good) if good else wanted.default
        case "all":
            return _listed(good) if standing(flow, step, wanted) == "resolved" else wanted.default
        case "none":
            return None if good else wanted.default
        case _:
            assert_never(wanted.collect)


def undecided(flow: Flow, plan: StepPlan, step: StepState) -> bool:
    """Whether a `match` may still say yes or no: until then the step asks for nothing else."""
    return any(standing(flow, step, each) == "open" for each in plan.matched)


def still_wants(flow: Flow, plan: StepPlan, step: StepState, name: str, *, now: bool) -> bool:
    """Whether a pending step can use a value of that name; `now`: not only if its matches go well."""
    waits_for_match = now and bool(plan.matched) and undecided(flow, plan, step)
    return any(
        each.name == name
        and each.name not in step.closed
        and standing(flow, step, each) == "open"
        and not (waits_for_match and each.match is None)
        for each in plan.inputs
    )


def _may_come(flow: Flow, name: str) -> bool:
    steps = flow.state.steps
    return any(steps[provider].status in ("pending", "active") for provider in flow.compiled.providers[name])


def _all(flow: Flow, step: StepState, wanted: Wanted, more: bool) -> Standing:
    values = flow.values(wanted.name)
    if not all(step.matches.get(wanted.name, {}).values()):
        return "unmatched"
    givers = {value.step for value in values}
    providers = flow.compiled.providers[wanted.name]
    if any(flow.state.steps[each].ended and each not in givers for each in providers):
        return "lost"
    return "open" if more else "resolved" if values else "lost"


def _empty(values: list[Value]) -> Standing:
    return "unmatched" if values else "lost"


def _listed(values: list[Value]) -> Raw:
    return Raw(_encode([each.value for each in values]))
