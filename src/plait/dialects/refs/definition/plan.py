"""A valid definition compiled for running: the dependencies and dependents of each step, and its retry policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, assert_never, cast

from msgspec import Raw

from plait.dialects.refs.references.heads import heads
from plait.dialects.refs.references.template import Ref
from plait.kernel.retry import Retry
from plait.kernel.task import Policy

from .action import Action, Kind
from .condition import Condition
from .limits import CODE_TIMEOUT, FUNCTION_TIMEOUT, JITTER, MAX_BACKOFF, SANDBOX_GRACE, TOOL_TIMEOUT
from .order import settling_order
from .schemas import Schema
from .source import Config, Mode, OnError

TRANSFORM_POLICY = Policy(timeout=CODE_TIMEOUT + SANDBOX_GRACE)


@dataclass(frozen=True, slots=True)
class ForEachPlan:
    ref: Ref
    concurrency: int


@dataclass(frozen=True, slots=True)
class CompensatorPlan:
    action: Action
    input: Any


@dataclass(frozen=True)
class StepPlan:
    name: str
    position: int
    """The position in the list of steps: of those ready at the same time, the first starts first."""
    action: Action
    input: Any
    when: Condition | None
    bail: Condition | bool | None
    for_each: ForEachPlan | None
    reads: frozenset[str]
    """Steps that it references, except itself."""
    needs: frozenset[str]
    """Steps that must be settled before it: those that it reads, and `dependsOn`."""
    config: Config
    schema: Schema | None
    compensator: CompensatorPlan | None

    @property
    def kind(self) -> Kind:
        return self.action.kind

    @cached_property
    def on_error(self) -> OnError:
        """A failed iteration becomes null in the array, unless the step says otherwise."""
        return self.config.on_error or ("fail" if self.for_each is None else "continue")

    @cached_property
    def timeout(self) -> float | None:
        """Seconds of one attempt."""
        given = self.config.timeout_ms
        return default_timeout(self.kind) if given is None else given / 1000

    @cached_property
    def policy(self) -> Policy:
        config = self.config
        retry = Retry(
            max_attempts=config.max_attempts,
            backoff="exponential",
            first=config.backoff_ms / 1000,
            cap=MAX_BACKOFF,
            jitter=JITTER,
        )
        timeout = self.timeout
        if timeout is not None and self.kind == "code":
            timeout += SANDBOX_GRACE
        return Policy(retry, timeout, retry_on_timeout=True, recoveries=0 if config.on_interrupt == "fail" else None)

    @cached_property
    def is_constant(self) -> bool:
        """Whether its input has no references, so that it is the same for every run."""
        return "@" not in str(self.input)


@dataclass(frozen=True, kw_only=True)
class Plan:
    steps: Mapping[str, StepPlan]
    """Steps in list order."""
    mode: Mode = "auto"
    servers: tuple[str, ...] | None = None
    start_at: int | None = None
    presets: Mapping[str, Any] | None = None
    label: str = ""
    definition: Raw
    hash: str
    """The hash of the definition without its presets."""
    input_schema: Schema | None = None

    def add(self, step: StepPlan) -> None:
        """Adds a step to the plan of a recording, which no other run shares."""
        cast("dict[str, StepPlan]", self.steps)[step.name] = step
        for found in ("order", "dependents", "terminals", "levels", "declared"):
            self.__dict__.pop(found, None)

    @property
    def actions(self) -> Iterator[tuple[StepPlan, Action]]:
        """The actions of its steps and of their compensators."""
        for step in self.order:
            yield step, step.action
            if step.compensator is not None:
                yield step, step.compensator.action

    @cached_property
    def order(self) -> Sequence[StepPlan]:
        return list(self.steps.values())

    @cached_property
    def dependents(self) -> Mapping[str, Sequence[str]]:
        """By step, the steps that need it."""
        found: dict[str, list[str]] = {name: [] for name in self.steps}
        for step in self.order:
            for need in step.needs:
                found[need].append(step.name)
        return found

    @cached_property
    def terminals(self) -> Sequence[str]:
        """Steps that no other one references."""
        referenced = {name for step in self.order for name in step.reads}
        return [step.name for step in self.order if step.name not in referenced]

    @cached_property
    def levels(self) -> Sequence[Sequence[str]]:
        """Steps grouped by the number of levels before them."""
        depth: dict[str, int] = {}
        for name in settling_order({name: step.needs for name, step in self.steps.items()}):
            depth[name] = max((depth[need] + 1 for need in self.steps[name].needs), default=0)
        found: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
        for step in self.order:
            found[depth[step.name]].append(step.name)
        return found

    @cached_property
    def declared(self) -> frozenset[str]:
        return frozenset(self.steps)


def default_timeout(kind: Kind) -> float | None:
    match kind:
        case "tool":
            return TOOL_TIMEOUT
        case "code":
            return CODE_TIMEOUT
        case "function":
            return FUNCTION_TIMEOUT
        case "workflow" | "return" | "agent":  # an agent has its own timeout
            return None
        case _:
            assert_never(kind)


def reads_of(
    name: str, input: Any, when: Condition | None, bail: Condition | bool | None, for_each: Ref | None
) -> set[str]:
    """The heads of a step's references, except its own name."""
    found = heads(input)
    found |= {ref.head for ref in (None if when is None else when.ref, for_each) if ref is not None}
    if isinstance(bail, Condition) and bail.ref.head != name:
        found.add(bail.ref.head)
    return found
