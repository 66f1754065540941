"""A plan compiled for running: the inputs and outputs of each step, and its retries.

It depends on the plan alone, so runs of one plan share it and snapshots leave it out.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Raw

from plait.dialects.goals.planning.plan import Plan
from plait.dialects.goals.steps.attribute import Attribute, Collect, Script
from plait.dialects.goals.steps.mapping import script_of
from plait.dialects.goals.steps.step import Step, WorkConfig
from plait.kernel.retry import MAX_CAP, ONCE, UNLIMITED, Retry
from plait.kernel.task import Policy

_sorted = msgspec.json.Encoder(order="sorted")


class Wanted(msgspec.Struct, frozen=True):
    """An input that comes from init or other steps."""

    name: str
    inner: str
    required: bool
    collect: Collect
    deadline: int
    match: Script | None
    default: Raw | None


class StepPlan(msgspec.Struct, frozen=True):
    id: str
    step: Step
    goal: bool
    inputs: tuple[Wanted, ...]
    """Inputs by outer name."""
    required: tuple[Wanted, ...]
    optional: tuple[Wanted, ...]
    matched: tuple[Wanted, ...]
    """Inputs that a script judges."""
    constants: dict[str, Raw]
    metas: tuple[tuple[str, str], ...]
    """Pairs of name and key."""
    inner: dict[str, str]
    """The step's own names of its inputs, by outer name."""
    outputs: tuple[str, ...]
    """Names, sorted."""
    fans: bool
    """Whether the step may have several items."""
    scripted: bool
    """Whether scripts run before the step starts."""
    output_scripts: tuple[tuple[str, str, Script], ...]
    """Outputs that a script computes: outer name, inner name, script."""
    renames: bool
    """Whether some outputs have other names inside the step than in the catalog."""
    arguments: tuple[str, ...]
    """The names that its scripts see."""
    token_inputs: tuple[str, ...]
    webhook_inputs: tuple[str, ...]
    """Meta inputs that differ from item to item."""
    fingerprint: str
    """A hash of all that determines its outputs, except its inputs; empty if it is not memoizable."""
    queue: str | None
    """The queue whose workers call its function, for the work and for its compensation."""
    policy: Policy
    parallelism: int


class CompiledPlan:
    def __init__(self, plan: Plan, steps: dict[str, StepPlan] | None = None) -> None:
        """`steps` are passed if they are already compiled."""
        self.plan = plan
        goals = set(plan.goals)
        self.steps = steps or {step_id: step_plan(step, step_id in goals) for step_id, step in plan.steps.items()}
        self.closed = plan.closed
        self.matches = any(step.matched for step in self.steps.values())
        self.compensates = any(step.compensate for step in plan.steps.values())
        self.providers = {name: tuple(links.providers) for name, links in plan.attributes.items()}
        self.consumers = {name: tuple(links.consumers) for name, links in plan.attributes.items()}
        self.named = {name: frozenset((*links.providers, *links.consumers)) for name, links in plan.attributes.items()}
        """Name -> the steps that provide or consume it."""
        self.upstream = {
            step_id: frozenset(giver for each in step.inputs for giver in self.providers[each.name])
            for step_id, step in self.steps.items()
        }
        """Step -> the steps that may give it something."""
        self.downstream = {
            step_id: frozenset(taker for name in step.outputs for taker in self.consumers[name])
            for step_id, step in self.steps.items()
        }

    @cached_property
    def goals(self) -> tuple[str, ...]:
        """The goals that must be reached; the outputs of others are all in init, or init blocks them."""
        return tuple(goal for goal in self.plan.goals if goal in self.steps)


def step_plan(step: Step, goal: bool) -> StepPlan:
    inputs = tuple(_wanted(name, each) for name, each in sorted(step.attributes.items()) if _from_others(each))
    ways_in = [each for _, each in step.inputs()]
    return StepPlan(
        id=step.id,
        step=step,
        goal=goal,
        inputs=inputs,
        required=tuple(each for each in inputs if each.required),
        optional=tuple(each for each in inputs if not each.required),
        matched=tuple(each for each in inputs if each.match is not None),
        constants={
            name: Raw(each.detail.value.encode()) for name, each in step.inputs() if each.detail.value is not None
        },
        metas=tuple((name, each.detail.key) for name, each in step.inputs() if each.role == "meta"),
        inner={name: each.inner(name) for name, each in step.inputs()},
        outputs=tuple(sorted(name for name, _ in step.outputs())),
        fans=any(each.detail.for_each for each in ways_in),
        scripted=step.predicate is not None or any(script_of(each) is not None for each in ways_in),
        output_scripts=tuple(
            (name, each.inner(name), script) for name, each in step.outputs() if (script := script_of(each)) is not None
        ),
        renames=any(each.detail.mapping is not None for _, each in step.outputs()),
        arguments=step.arguments,
        token_inputs=_metas(step, "receipt_token"),
        webhook_inputs=_metas(step, "webhook_url"),
        fingerprint=_fingerprint(step),
        queue=(step.python.queue or None) if step.python is not None else None,
        policy=policy_of(step),
        parallelism=step.work_config.parallelism,
    )


def policy_of(step: Step) -> Policy:
    limit = step.python.timeout if step.python is not None else 0
    return Policy(retry_of(step.work_config), limit / 1000 if limit else None, retry_on_timeout=True)


def retry_of(config: WorkConfig) -> Retry:
    if config.retry == "never":
        return ONCE
    return Retry(
        max_attempts=UNLIMITED if config.max_retries < 0 else config.max_retries + 1,
        backoff=config.backoff_type,
        first=min(config.init_backoff / 1000, MAX_CAP),
        cap=min(config.max_backoff / 1000, MAX_CAP),
    )


def _from_others(attribute: Attribute) -> bool:
    return attribute.role in ("required", "optional")


def _metas(step: Step, key: str) -> tuple[str, ...]:
    return tuple(name for name, each in step.inputs() if each.role == "meta" and each.detail.key == key)


def _fingerprint(step: Step) -> str:
    """Equal for steps that differ only in name. A step that reports to its own address is like no other."""
    if not step.memoizable or step.type in ("async", "flow", "run") or _metas(step, "webhook_url"):
        return ""
    called: Any = None
    if step.http is not None:
        called = step.http.endpoint, step.http.method
    elif step.python is not None:
        called = step.python.handler, step.python.queue
    elif step.tool is not None:
        called = step.tool
    elif step.agent is not None:
        called = step.agent
    elif step.pipeline is not None:
        called = step.pipeline
    parts: Any = (step.type, step.attributes, step.script, called)
    return hashlib.sha256(_sorted.encode(parts)).hexdigest()


def _wanted(name: str, attribute: Attribute) -> Wanted:
    detail = attribute.detail
    return Wanted(
        name=name,
        inner=attribute.inner(name),
        required=attribute.role == "required",
        collect=detail.collect,
        deadline=detail.deadline,
        match=detail.match,
        default=None if detail.default is None else Raw(detail.default.encode()),
    )
