"""A client for a Plait server, with the same calls and the same types as an engine in this process."""

from plait.extras import extra

with extra("client", "talking to a server"):
    from .client import Client
    from .errors import Forbidden, Refused, Unauthorized
    from .run import RemoteRun

__all__ = ["Client", "Forbidden", "Refused", "RemoteRun", "Unauthorized"]
