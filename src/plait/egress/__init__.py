"""The guarded client that sends all HTTP requests of workflows."""

from .client import Egress
from .messages import Headers, Request, Response
from .settings import EgressSettings

__all__ = ["Egress", "EgressSettings", "Headers", "Request", "Response"]
