"""The `goals` dialect as the kernel sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Raw

from plait.agents.models import Models
from plait.kernel import values
from plait.kernel.bundle import ForkPlan, Resolved
from plait.kernel.definitions import Description, Numbering
from plait.kernel.definitions import Plan as Preview
from plait.kernel.errors import Conflict, ErrorInfo, RunBlocked
from plait.kernel.events import Recorded
from plait.kernel.machine import Machine, RunInfo
from plait.kernel.task import Executor

from .catalogs.catalogs import Catalogs
from .definition import Goals
from .errors import BadRequest, GoalsError
from .plan_cache import PlanCache
from .planning.gates import Judge
from .planning.request import check_prices, check_start, label_of, read_goals, read_request
from .running.decision_builder import Handlers, RunContext
from .running.edits import fork
from .running.events import GoalsEvent
from .running.machine import GoalsMachine
from .running.state import StartData

Unhealthy = Callable[[str, str], str]
"""Returns what is wrong with a step of a namespace, or an empty string."""

_END_OF_STEP = {
    "work_succeeded": ("attribute_set", "step_completed"),
    "attribute_set": ("attribute_set", "step_completed"),
    "work_failed": ("step_failed",),
}
"""The events after which others of the same step belong to its end."""


class GoalsDialect:
    name = "goals"
    events: Any = GoalsEvent
    rewinds = False
    retries_compensated = True
    edits_agents = False
    edits_outputs = False
    hears_after_end = False
    numbering: Numbering = "count"
    surface = "plait.dialects.goals.surface"
    executors: Sequence[Executor] = ()

    def __init__(
        self,
        catalogs: Catalogs,
        handlers: Handlers,
        unhealthy: Unhealthy = lambda namespace, step_id: "",
        judge: Judge | None = None,
        models: Models | None = None,
    ) -> None:
        """`judge` runs the scripts of gates; without one, no gate is decided before its run."""
        self._models = models or Models()
        self._catalogs = catalogs
        self._handlers = handlers
        self._unhealthy = unhealthy
        self._plans = PlanCache(catalogs, judge)

    def accepts(self, definition: object) -> bool:
        return isinstance(definition, Goals)

    def read(self, definition: str | dict[str, Any]) -> Goals:
        """Reads `{"goals": [...]}`, or the id of one goal."""
        if isinstance(definition, str):
            return Goals((definition,))
        unknown = sorted(set(definition) - {"goals"})
        if unknown:
            raise BadRequest(
                f"/definition/{unknown[0]}", f"a definition has no '{unknown[0]}'", 'send {"goals": [...]}'
            )
        return Goals(read_goals(definition.get("goals")))

    async def check_definition(self, definition: dict[str, Any], namespace: str) -> Sequence[str]:
        self.read(definition)
        return ()

    async def resolve(self, definition: object, input: object, namespace: str) -> Resolved:
        await self._catalogs.refresh(namespace)
        wanted = cast("Goals", definition)
        request = read_request(wanted.goals, input)
        plan = await self._plans.plan(request, namespace, wanted.more)
        check_start(plan)
        check_prices(plan, self._models)
        more = values.encode(wanted.more) if wanted.more else b""
        return Resolved(
            label_of(request.goals),
            None,
            request.raw_init,
            StartData(plan, more=wanted.more),
            taken="goals.run_exists",
            identity=bytes(more),
        )

    async def plan(self, definition: object, input: object, namespace: str) -> Preview:
        """Returns the plan, with its gaps if it has any."""
        await self._catalogs.refresh(namespace)
        wanted = cast("Goals", definition)
        request = read_request(wanted.goals, input)
        plan = await self._plans.plan(request, namespace, wanted.more)
        return Preview(
            dialect=self.name,
            definition=label_of(request.goals),
            input=request.init,
            notes=plan.warnings,
            body=msgspec.to_builtins(plan),
            startable=_startable(plan),
        )

    def returns(self, definition: str, version: str | None) -> Any:
        return Any

    def failure(self, error: ErrorInfo) -> None:
        return None

    def blocked(self, run_id: str, error: ErrorInfo) -> RunBlocked:
        return RunBlocked(run_id, error)

    def describe(self) -> list[Description]:
        """Empty: goals are not loaded definitions; the steps are in the catalog."""
        return []

    def machine(self, info: RunInfo) -> GoalsMachine:
        context = RunContext(info, self._handlers, lambda step_id: self._unhealthy(info.namespace, step_id))
        return GoalsMachine(context, self._plans.compiled_plans)

    def restore(self, info: RunInfo, snapshot: Raw) -> GoalsMachine:
        machine = self.machine(info)
        machine.restore(snapshot)
        return machine

    def inseparable(self, event: Recorded, following: Recorded) -> bool:
        """A step ends together with its last item: nothing would end it in a fork between the two."""
        return following.type in _END_OF_STEP.get(event.type, ()) and _step_of(event) == _step_of(following)

    def fork(self, machine: Machine, at: int | str | None, edits: Mapping[str, Any]) -> ForkPlan:
        source = cast("GoalsMachine", machine)
        return fork(source.flow, source.context.info.run_id, at, edits)

    def rewind_point(self, machine: Machine, at: str | None) -> int:
        raise Conflict(
            "goals.no_rewind", "a run towards goals can't be rewound", fix="fork it: fork(at=..., edits=...)"
        )


def _step_of(event: Recorded) -> object:
    return event.data.get("step_id") or event.data.get("provider")


def _startable(plan: Any) -> bool:
    try:
        check_start(plan)
    except GoalsError:
        return False
    return True
