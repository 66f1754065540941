"""Plans that were made already: as long as the catalog stays, the same goals and names given need no second thought.

Gates do: which of them init opens or closes depends on its values, so these are judged for each request.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from .catalogs.catalogs import Catalogs
from .planning.gates import UNDECIDED, Gate, Gates, Judge, gates_to_judge, judge
from .planning.plan import Plan
from .planning.planner import plan, steps_met
from .planning.request import Request
from .running.compiled_plan import CompiledPlan

_KEPT = 256
_Asked = tuple[str, int, tuple[str, ...], frozenset[str]]
"""Namespace, number of its catalog, goals, names given."""


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
        gates = self._gates_of(asked) if self._judge is not None else []
        judged = UNDECIDED
        if gates and self._judge is not None:
            candidates = {name: [value, *more.get(name, ())] for name, value in request.init.items()}
            judged = await judge(gates, candidates, catalog, self._judge)
        found = self._plans.get((asked, judged))
        if found is None:
            found = self._plans[asked, judged] = plan(catalog, request.goals, request.init, judged)
            self.compiled_plans[id(found)] = CompiledPlan(found)
            if len(self._plans) > _KEPT:
                _, oldest = self._plans.popitem(last=False)
                del self.compiled_plans[id(oldest)]
        else:
            self._plans.move_to_end((asked, judged))
        return found

    def _gates_of(self, asked: _Asked) -> list[Gate]:
        found = self._gates.get(asked)
        if found is None:
            namespace, _, goals, init = asked
            catalog = self._catalogs.get(namespace)
            found = self._gates[asked] = gates_to_judge(catalog, steps_met(catalog, goals, init), init)
            if len(self._gates) > _KEPT:
                self._gates.popitem(last=False)
        return found
