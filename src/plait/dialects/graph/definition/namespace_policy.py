"""The guardrails of a namespace: what its operators allow, whatever a graph allows itself.

A run is pinned to the policy of its namespace at its start. A new policy applies to runs that start after it was
set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from plait import conditions
from plait.agents.promotion.setting import MOST_USES, USES
from plait.conditions import InvalidCondition
from plait.definitions.flaws import InvalidDefinition, Note
from plait.kernel import values
from plait.kernel.clock import Clock
from plait.kernel.errors import InvalidInput
from plait.kernel.ids import DEFAULT_NAMESPACE, check_namespace
from plait.kernel.records import Record, Records, read_body

from .source import Part, PolicyRule, Positive

BAD: Final = "graph.bad_policy"
RULES: Final = "/namespace_policy/rules"
"""The pointer prefix of its conditions among those of a compiled graph."""
_KIND, _ID = "graph_policy", "policy"
_BY_AGENTS: Final = ((3, 5), (1, 20), (0, 100))
"""Starts per minute, by the least number of agent nodes."""


class Opa(Part, frozen=True, kw_only=True):
    """A policy server that is asked about every emit, with `{"input": {from_node, to_node, user, input, …}}`."""

    url: Annotated[str, Meta(pattern="^https?://")]
    timeout_s: Annotated[float, Meta(gt=0, le=60)] = 5.0


class StartRate(Part, frozen=True, kw_only=True):
    per_minute: Positive


class AgentRules(Part, frozen=True, kw_only=True):
    """For agents of all dialects; these hold at once, also for runs under way."""

    allowed_tools: list[str] | None = None
    auto_apply: bool = False
    """New versions that agents propose are saved without asking anybody."""
    max_tokens_per_day: Positive | None = None
    max_cost_usd_per_day: Annotated[float, Meta(ge=0)] | None = None
    promote_after: Annotated[int, Meta(ge=0, le=MOST_USES)] = USES
    """Uses of a pipeline, before it becomes a tool; 0: never."""


class NamespacePolicy(Part, frozen=True, kw_only=True):
    allowed_transitions: dict[str, list[str]] | None = None
    rules: tuple[PolicyRule, ...] = ()
    max_fanout: Positive | None = None
    allowed_tools: list[str] | None = None
    opa: Opa | None = None
    start_rate: Literal["by_agents"] | StartRate | None = None
    agents: AgentRules = AgentRules()

    def starts_per_minute(self, agents: int) -> tuple[str, int] | None:
        """The key under which starts are counted together, and their limit; None: no limit."""
        if self.start_rate is None:
            return None
        if isinstance(self.start_rate, StartRate):
            return "graph", self.start_rate.per_minute
        return next((f"graph with {least} agents or more", most) for least, most in _BY_AGENTS if agents >= least)


NO_POLICY: Final = NamespacePolicy()


class NamespacePolicies:
    """`engine.policies`."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def get(self, namespace: str = DEFAULT_NAMESPACE) -> NamespacePolicy:
        found = await self._records.get(_KIND, namespace, _ID)
        return NO_POLICY if found is None else read_body(found, NamespacePolicy)

    async def set(
        self, policy: NamespacePolicy | dict[str, Any], namespace: str = DEFAULT_NAMESPACE
    ) -> NamespacePolicy:
        """Sets the policy for all graphs of the namespace that start from now on; durable when this returns."""
        found = _read(policy)
        if flaws := [*_flaws(found)]:
            raise InvalidDefinition(BAD, flaws)
        body = values.encode(msgspec.to_builtins(found))
        await self._records.put(Record(_KIND, check_namespace(namespace), _ID, body, self._clock.now()))
        return found


def _read(given: NamespacePolicy | dict[str, Any]) -> NamespacePolicy:
    if isinstance(given, NamespacePolicy):
        return given
    try:
        return msgspec.convert(values.decode(values.encode(given)), NamespacePolicy)
    except msgspec.ValidationError as error:
        fix = "see the guide of graphs"
        raise InvalidInput(BAD, "this is no policy of a namespace", why=str(error), fix=fix) from None


def _flaws(policy: NamespacePolicy) -> Iterator[Note]:
    for number, rule in enumerate(policy.rules):
        try:
            conditions.compile(rule.condition, f"/rules/{number}/condition", place="policy")
        except InvalidCondition as error:
            yield from (Note(flaw.pointer, flaw.message, "", flaw.code) for flaw in error.flaws)
