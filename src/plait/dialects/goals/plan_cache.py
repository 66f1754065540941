"""A cache of plans: while the catalog is unchanged, the same goals and given names need not be planned again.

Gates are judged for each request: which of them init opens or closes depends on its values.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from .catalogs.catalogs import Catalogs
from .planning.gates import UNDECIDED, Gate, Gates, Judge, gates_to_judge, judge
from .planning.plan import Plan
from .planning.planner import plan, steps_met
from .planning.request import Request
from .running.compiled_plan import CompiledPlan, StepPlan, step_plan

_KEPT = 256
_Asked = tuple[str, int, tuple[str, ...], frozenset[str]]
"""Namespace, catalog sequence number, goals, names given."""


_AT_A_TIME = 100
"""Steps compiled before the event loop gets a turn."""


class PlanCache:
    def __init__(self, catalogs: Catalogs, judge: Judge | None) -> None:
        self._catalogs = catalogs
        self._judge = judge
        self._plans: OrderedDict[tuple[_Asked, Gates], Plan] = OrderedDict()
        self._gates: OrderedDict[_Asked, list[Gate]] = OrderedDict()
        self.compiled_plans: dict[int, CompiledPlan] = {}
        """By the identity of their plan, for machines of runs that are started here."""

    async def plan(self, request: Request, namespace: str, more: Mapping[str, Sequence[Any]]) -> Plan:
        asked = namespace, self._catalogs.sequence(namespace), request.goals, frozenset(request.init)
        catalog = self._catalogs.get(namespace)
        new = asked not in self._gates
        gates = self._gates_of(asked) if self._judge is not None else []
        if new and self._judge is not None:
            await asyncio.sleep(0)  # finding the gates visited every step, as planning does next
        judged = UNDECIDED
        if gates and self._judge is not None:
            candidates = {name: [value, *more.get(name, ())] for name, value in request.init.items()}
            judged = await judge(gates, candidates, catalog, self._judge)
        found = self._plans.get((asked, judged))
        if found is not None:
            self._plans.move_to_end((asked, judged))
            return found
        made = plan(catalog, request.goals, request.init, judged)
        await asyncio.sleep(0)
        compiled = await _compiled(made)
        return self._plans.get((asked, judged)) or self._keep((asked, judged), made, compiled)

    def _keep(self, key: tuple[_Asked, Gates], made: Plan, compiled: CompiledPlan) -> Plan:
        self._plans[key] = made
        self.compiled_plans[id(made)] = compiled
        if len(self._plans) > _KEPT:
            _, oldest = self._plans.popitem(last=False)
            del self.compiled_plans[id(oldest)]
        return made

    def _gates_of(self, asked: _Asked) -> list[Gate]:
        found = self._gates.get(asked)
        if found is None:
            namespace, _, goals, init = asked
            catalog = self._catalogs.get(namespace)
            found = self._gates[asked] = gates_to_judge(catalog, steps_met(catalog, goals, init), init)
            if len(self._gates) > _KEPT:
                self._gates.popitem(last=False)
        return found


async def _compiled(made: Plan) -> CompiledPlan:
    goals, steps = set(made.goals), dict[str, StepPlan]()
    for number, (step_id, step) in enumerate(made.steps.items(), 1):
        if number % _AT_A_TIME == 0:
            await asyncio.sleep(0)
        steps[step_id] = step_plan(step, step_id in goals)
    return CompiledPlan(made, steps)
