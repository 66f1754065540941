"""Plans that were made already: as long as the catalog stays, the same goals and names given need no second thought."""

from __future__ import annotations

from collections import OrderedDict

from .catalogs.catalogs import Catalogs
from .planning.plan import Plan
from .planning.planner import plan
from .planning.request import Request
from .running.compiled_plan import CompiledPlan

_KEPT = 256
_Key = tuple[str, int, tuple[str, ...], frozenset[str]]


class PlanCache:
    def __init__(self, catalogs: Catalogs) -> None:
        self._catalogs = catalogs
        self._plans: OrderedDict[_Key, Plan] = OrderedDict()
        self.compiled_plans: dict[int, CompiledPlan] = {}
        """By the identity of their plan, for machines of runs that are started here."""

    def plan(self, request: Request, namespace: str) -> Plan:
        key = namespace, self._catalogs.sequence(namespace), request.goals, frozenset(request.init)
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = plan(self._catalogs.get(namespace), request.goals, request.init)
            self.compiled_plans[id(found)] = CompiledPlan(found)
            if len(self._plans) > _KEPT:
                _, oldest = self._plans.popitem(last=False)
                del self.compiled_plans[id(oldest)]
        else:
            self._plans.move_to_end(key)
        return found
