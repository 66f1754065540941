"""A plan for people: what would run, in order, who provides what to whom, and what would not run; and the values of
a run of it, each with its provider."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec
from rich.text import Text

from plait.cli import words
from plait.cli.output import facts, say, table
from plait.dialects.goals.planning.plan import Links, Plan
from plait.dialects.goals.steps.step import Step
from plait.kernel.definitions import Plan as Preview

GIVEN = "input"
"""The provider shown for a name that is in the input."""


def say_plan(preview: Preview) -> None:
    plan = msgspec.convert(preview.body, Plan)
    given = frozenset(preview.input or {})
    verdict = Text("can be started", "green") if preview.startable else Text("can't be started", "red")
    facts(
        [
            ("goals", ", ".join(plan.goals)),
            ("given", ", ".join(sorted(given)) or "nothing"),
            ("plan", Text.assemble(words.counted(len(plan.steps), "step"), ", ", verdict)),
        ]
    )
    _say_steps(plan, given)
    _say_left_out(plan)
    _say_missing(plan)
    for step_id, child in plan.children.items():
        _say_child(step_id, child, plan.steps[step_id])
    for warning in plan.warnings:
        say(Text.assemble("\n", ("warning ", "yellow"), warning))


def _say_steps(plan: Plan, given: Collection[str]) -> None:
    if not plan.steps:
        return
    say()
    rows = [
        (
            str(wave),
            Text(step.id, "bold" if step.id in plan.goals else ""),
            step.type,
            ", ".join(_needs(step, plan, given)),
            ", ".join(name for name, _ in step.outputs()),
        )
        for wave, step in waves(plan, given)
    ]
    table(("", "STEP", "TYPE", "NEEDS", "GIVES"), rows, fold=("NEEDS", "GIVES", "STEP"))


def _needs(step: Step, plan: Plan, given: Collection[str]) -> Iterable[str]:
    for name, attribute in step.inputs():
        if attribute.role in ("const", "meta"):
            continue
        mark = "?" if attribute.role == "optional" else ""
        each = "[each]" if attribute.detail.for_each else ""
        yield f"{name}{mark}{each} ← {_givers(name, plan, given) or ('its default' if mark else 'nothing')}"


def _givers(name: str, plan: Plan, given: Collection[str]) -> str:
    """The providers of a name; several of them race."""
    links = plan.attributes.get(name, Links([], []))
    return " | ".join([*([GIVEN] if name in given else []), *links.providers])


def waves(plan: Plan, given: Collection[str]) -> list[tuple[int, Step]]:
    """Each step with its wave, which comes after all its providers. Steps of one wave may run at the same time."""
    turns: dict[str, int] = {}

    def turn(step_id: str) -> int:
        if step_id not in turns:
            names = (
                name for name, attribute in plan.steps[step_id].inputs() if attribute.role in ("required", "optional")
            )
            before = {giver for name in names for giver in plan.attributes[name].providers}
            turns[step_id] = 1 + max((turn(giver) for giver in before), default=0)
        return turns[step_id]

    return sorted(
        ((turn(step_id), step) for step_id, step in plan.steps.items()), key=lambda each: (each[0], each[1].id)
    )


def _say_left_out(plan: Plan) -> None:
    excluded = plan.excluded
    reasons = [
        *(
            (step_id, "not needed: its outputs are in the input", names)
            for step_id, names in excluded.satisfied.items()
        ),
        *((step_id, "can't run: it lacks an input", names) for step_id, names in excluded.missing.items()),
        *(
            (step_id, "ruled out: it wants none of what the input has", names)
            for step_id, names in excluded.blocked.items()
        ),
    ]
    if reasons:
        say("\nleft out", "bold")
        width = max(len(step_id) for step_id, _, _ in reasons)
        for step_id, why, names in sorted(reasons):
            say(f"  {step_id:<{width}}  {why} ({', '.join(names)})")


def _say_missing(plan: Plan) -> None:
    if plan.required:
        say("\nmissing", "bold")
        for name in plan.required:
            takers = ", ".join(plan.attributes[name].consumers) if name in plan.attributes else ""
            say(Text.assemble(("  " + name, "red"), f"  needed by {takers}: --input {name}=…"))


def _say_child(step_id: str, child: Plan, step: Step) -> None:
    """A flow step: what its own run would do with the inputs that the step is certain to give it."""
    inner = frozenset(
        attribute.inner(name)
        for name, attribute in step.inputs()
        if attribute.role != "optional" or attribute.detail.default is not None
    )
    say(Text.assemble("\n", ("inside ", "bold"), (step_id, "bold"), f" (goals: {', '.join(child.goals)})"))
    _say_steps(child, inner)
    _say_left_out(child)
    if child.required:
        say(Text.assemble("  ", (", ".join(child.required), "red"), f" is missing; add it to '{step_id}' as an input"))
    for inner_id, grandchild in child.children.items():
        _say_child(inner_id, grandchild, child.steps[inner_id])


def say_attributes(details: Mapping[str, Any], limit: int | None) -> None:
    rows = [
        (name, given.get("step", GIVEN) + (" (late)" if place else ""), words.value(given["value"], limit))
        for name, values in details["attributes"].items()
        for place, given in enumerate(values)
    ]
    if rows:
        say()
        table(("VALUE OF", "FROM", ""), rows, fold=("VALUE OF",), cut=() if limit is None else ("",))
    excluded = details["plan"]["excluded"]
    left_out = sorted({step_id for reasons in excluded.values() for step_id in reasons})
    if left_out:
        say(f"\nleft out by the plan: {', '.join(left_out)}", "bright_black")
