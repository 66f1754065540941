"""The policies of a server: the calls of `engine.policies`, over HTTP."""

from __future__ import annotations

from typing import Any

import msgspec

from plait.api.transport import Transport
from plait.dialects.graph.definition.namespace_policy import NamespacePolicy
from plait.kernel.ids import DEFAULT_NAMESPACE


class RemotePolicies:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self, namespace: str = DEFAULT_NAMESPACE) -> NamespacePolicy:
        path = self._transport.path("graph-policy")
        return await self._transport.get(path, NamespacePolicy, {"namespace": namespace})

    async def set(
        self, policy: NamespacePolicy | dict[str, Any], namespace: str = DEFAULT_NAMESPACE
    ) -> NamespacePolicy:
        """Sets the policy for all graphs of the namespace that start from now on."""
        path = self._transport.path("graph-policy")
        body: dict[str, Any] = msgspec.to_builtins(policy)
        return await self._transport.post(path, NamespacePolicy, body, {"namespace": namespace}, idempotent=True)
