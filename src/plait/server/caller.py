"""Who calls, and what he may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from plait.kernel.ids import DEFAULT_NAMESPACE

from .errors import WrongNamespace

if TYPE_CHECKING:
    from starlette.requests import Request

    from .routes import Route

Role = Literal["viewer", "operator", "editor", "approver", "worker", "admin"]
Needs = Role | Literal["any", "public"]
"""What a route asks for. `any`: a caller that is known; `public`: nobody is asked who he is."""
Mode = Literal["open", "key", "token", "session"]

EVERYWHERE = "*"

_GRANTS: dict[Role, frozenset[Role]] = {
    "viewer": frozenset({"viewer"}),
    "operator": frozenset({"viewer", "operator"}),
    "editor": frozenset({"viewer", "operator", "editor"}),
    "approver": frozenset({"viewer", "approver"}),
    "worker": frozenset({"worker"}),
    "admin": frozenset({"viewer", "operator", "editor", "approver", "worker", "admin"}),
}


class Caller(msgspec.Struct, frozen=True, gc=False):
    """A caller whom the guard let in."""

    name: str
    role: Role
    namespace: str
    """The one namespace he sees, or `*` for all."""
    mode: Mode

    def may(self, needs: Needs) -> bool:
        return needs in ("any", "public") or needs in _GRANTS[self.role]

    def namespace_of(self, stated: str | None) -> str:
        """The namespace a request is about; raises `WrongNamespace` when it is not the caller's."""
        if self.namespace == EVERYWHERE:
            return stated or DEFAULT_NAMESPACE
        if stated is not None and stated != self.namespace:
            raise WrongNamespace(stated)
        return self.namespace


ANONYMOUS = Caller("anonymous", "admin", EVERYWHERE, "open")
"""Everybody, when the server is open: on a loopback address only."""
NOBODY = Caller("nobody", "worker", EVERYWHERE, "open")
"""Who calls a public route: nothing is known of him, and nothing is granted."""


class Guard(Protocol):
    """Decides who calls and whether his role is enough; raises a `PlaitError` with status 401 or 403. A refusal
    by role carries the `caller`, so that the audit can name him."""

    async def check(self, request: Request, route: Route[Any, Any]) -> Caller: ...


Outcome = Literal["ok", "refused"]


class Audit(Protocol):
    """Keeps who did what. Called once for each request that may change something."""

    async def record(
        self,
        caller: Caller,
        action: str,
        target: str | None,
        outcome: Outcome,
        code: str | None = None,
        namespace: str | None = None,
    ) -> None: ...


class OpenGuard:
    """Lets everybody in as an administrator."""

    async def check(self, request: Request, route: Route[Any, Any]) -> Caller:
        return ANONYMOUS
