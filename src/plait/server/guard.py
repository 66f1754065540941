"""Access checks: who is calling, is the role enough, and which namespace is the request about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plait.api.caller import ANONYMOUS, EVERYWHERE, Caller, RequiredRole
from plait.kernel.ids import DEFAULT_NAMESPACE

from .errors import WrongNamespace

if TYPE_CHECKING:
    from starlette.requests import Request


class Guard(Protocol):
    """Authenticates a request and checks the role; raises a `PlaitError` with status 401 or 403. A refusal by role
    carries the `caller`, so that the audit log can name who it was."""

    async def check(self, request: Request, needed: RequiredRole) -> Caller: ...


class OpenGuard:
    """Lets everyone in as an administrator."""

    async def check(self, request: Request, needed: RequiredRole) -> Caller:
        return ANONYMOUS


def namespace_of(caller: Caller, stated: str | None) -> str:
    """The namespace a request is about; raises `WrongNamespace` when it is not the caller's."""
    if caller.namespace == EVERYWHERE:
        return stated or DEFAULT_NAMESPACE
    if stated is not None and stated != caller.namespace:
        raise WrongNamespace(stated)
    return caller.namespace
