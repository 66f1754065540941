"""Access that is lost while a request is under way: a stream, or a wait, must not outlive its key.

A key may be revoked in any process, so the question is asked again and again. What was verified is remembered for
`ttl_cache.SECONDS`; with `EVERY` on top of that, everything a key has open ends within a second.
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
"""Seconds between looks."""


class Access:
    """What one caller was allowed to open."""

    def __init__(self, site: Site, request: Request, caller: Caller, needed: RequiredRole) -> None:
        self._site = site
        self._request = Request(request.scope)
        self._needed: RequiredRole = needed
        self._can_be_lost = not site.settings.open and needed != "public"
        # A token can only expire, and it takes long to verify one
        self._every = site.settings.heartbeat if caller.mode == "token" else EVERY

    async def lost(self) -> None:
        """Returns when the caller is not allowed any more; never, if he always is."""
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
    """What is waited for, unless the caller's key is revoked before it comes."""
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
