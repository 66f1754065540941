"""Asks step servers how they are, through the guarded client."""

from __future__ import annotations

from plait.egress import Request
from plait.egress.errors import EgressError

from .http import Send

_PATIENCE = 3.0


class HttpProbe:
    """What is wrong at an address, or nothing: a status from 400 on, or no answer at all."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __call__(self, url: str) -> str:
        try:
            response = await self._send(Request(url=url, timeout=_PATIENCE))
        except EgressError as error:
            return f"{error.what}: {error.why}" if error.why else error.what
        return f"health check returned status {response.status}" if response.status >= 400 else ""
