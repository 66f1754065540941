"""Ends streams and waits whose caller loses access: a request must not outlive its key.

Any process may revoke a key, so each open request checks its key again and again. A verified key is cached for
`ttl_cache.SECONDS`; together with `EVERY`, everything that a revoked key has open ends within a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import Request

from plait.api.caller import Caller, RequiredRole
from plait.kernel.errors import PlaitError

from .auth.errors import bad_key
from .site import Site

T = TypeVar("T")

EVERY = 0.5
"""Seconds between checks."""


class Access:
    """The access of one caller to one open stream or wait."""

    def __init__(self, site: Site, request: Request, caller: Caller, needed: RequiredRole) -> None:
        self._site = site
        self._request = Request(request.scope)
        self._needed: RequiredRole = needed
        self._can_be_lost = not site.settings.open and needed != "public"
        # A token can't be revoked, only expire, and verifying one is slow
        self._every = site.settings.heartbeat if caller.mode == "token" else EVERY

    async def lost(self) -> None:
        """Returns when the caller loses access; never returns if access can't be lost."""
        if not self._can_be_lost:
            await asyncio.Event().wait()
        while True:
            await asyncio.sleep(self._every)
            if not await self._is_there():
                return

    async def _is_there(self) -> bool:
        try:
            await self._site.auth.check(self._request, self._needed)
        except PlaitError as error:
            return error.status not in (401, 403)  # if access can't be checked right now, try again next time
        return True


async def while_allowed(access: Access, asking: Awaitable[T]) -> T:
    """Awaits `asking`, unless the caller's key is revoked first."""
    answer = asyncio.ensure_future(asking)
    lost = asyncio.ensure_future(access.lost())
    try:
        await asyncio.wait((answer, lost), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise bad_key()
        return await answer
    finally:
        for each in (answer, lost):
            each.cancel()
        await asyncio.gather(answer, lost, return_exceptions=True)
