"""The client with what the dialects add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.client import client
from plait.dialects.goals.surface.remote_catalog import RemoteCatalog

if TYPE_CHECKING:
    from plait.dialects.graph.surface.remote_policies import RemotePolicies
    from plait.dialects.refs.recordings import Recordings


class Client(client.Client):
    """A client for a Plait server, with what the dialects add to it."""

    @property
    def catalog(self) -> RemoteCatalog:
        """The step catalog of the namespace `default`; `.of(...)` returns that of another."""
        return RemoteCatalog(self.transport)

    @property
    def policies(self) -> RemotePolicies:
        """What the operators of each namespace allow graphs to do."""
        from plait.dialects.graph.surface.remote_policies import RemotePolicies  # not every client needs it

        return RemotePolicies(self.transport)

    @property
    def recordings(self) -> Recordings:
        """Recordings of tool calls as steps, in the namespace `default`; `.of(...)` returns those of another."""
        from plait.dialects.refs.recordings import Recordings

        return Recordings(self)
