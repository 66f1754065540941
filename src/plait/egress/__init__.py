"""The one guarded client through which all HTTP that workflows cause goes out."""

from .client import Egress
from .messages import Headers, Request, Response
from .settings import EgressSettings

__all__ = ["Egress", "EgressSettings", "Headers", "Request", "Response"]
