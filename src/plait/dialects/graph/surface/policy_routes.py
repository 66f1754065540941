"""What the operators of a namespace allow graphs to do, over HTTP."""

from __future__ import annotations

from typing import Protocol, TypeVar

from plait.api import route
from plait.api.route import Answer, Fault, Reply, Route
from plait.api.shape import Query, Scoped
from plait.dialects.graph.definition.namespace_policy import BAD, NamespacePolicies, NamespacePolicy


class HasPolicies(Protocol):
    """The engine, as far as the handlers need it."""

    @property
    def policies(self) -> NamespacePolicies: ...


Q = TypeVar("Q", bound=Query)
B = TypeVar("B")

Call = route.Call[HasPolicies, Q, B]


async def show(call: Call[Scoped, None]) -> Answer:
    return Answer(await call.host.policies.get(call.namespace))


async def replace(call: Call[Scoped, NamespacePolicy]) -> Answer:
    return Answer(await call.host.policies.set(call.body, call.namespace))


ROUTES = (
    Route(
        method="GET",
        path="/graph-policy",
        name="policy.show",
        role="viewer",
        summary="What the operators of the namespace allow graphs to do",
        handler=show,
        query=Scoped,
        replies=(Reply(200, NamespacePolicy, "The policy; empty: everything."),),
    ),
    Route(
        method="POST",
        path="/graph-policy",
        name="policy.set",
        role="operator",
        summary="Set what graphs of the namespace may do, for runs that start from now on",
        handler=replace,
        query=Scoped,
        body=NamespacePolicy,
        replies=(Reply(200, NamespacePolicy, "Set."),),
        faults=(Fault(422, BAD, "It is no policy, or one of its rules can't be read."),),
        example={"rules": [{"effect": "deny", "condition": "to_node == 'wire_money' && user != 'cfo'"}]},
    ),
)
