"""The client with what the dialects add to it."""

from __future__ import annotations

from plait.client import client
from plait.dialects.goals.surface.remote_catalog import RemoteCatalog


class Client(client.Client):
    """A client for a Plait server, with what the dialects add to it."""

    @property
    def catalog(self) -> RemoteCatalog:
        """The step catalog of the namespace `default`; `.of(...)` returns another's."""
        return RemoteCatalog(self.transport)
