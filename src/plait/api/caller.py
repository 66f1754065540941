"""The caller of a request, and what its role allows."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, get_args

import msgspec

Role = Literal["viewer", "operator", "editor", "approver", "worker", "agent", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
RequiredRole = Role | Literal["any", "public"]
"""What a route requires. `any`: every authenticated caller; `public`: no authentication."""
Mode = Literal["open", "key", "token", "session"]
"""How the caller was authenticated."""

EVERYWHERE = "*"
"""Stands for all namespaces."""

_GRANTS: dict[Role, frozenset[Role]] = {
    "viewer": frozenset({"viewer"}),
    "operator": frozenset({"viewer", "operator"}),
    "editor": frozenset({"viewer", "operator", "editor"}),
    "approver": frozenset({"viewer", "approver"}),
    "worker": frozenset({"worker"}),
    "agent": frozenset({"agent"}),
    "admin": frozenset({"viewer", "operator", "editor", "approver", "worker", "agent", "admin"}),
}


class Caller(msgspec.Struct, frozen=True, gc=False):
    """An authenticated caller."""

    name: str
    role: Role
    namespace: str
    """The one namespace the caller can see, or `*` for all."""
    mode: Mode
    id: str = ""
    """The id of the credential: `key:…`, `token:…`, `link:…`. Never the secret itself. Empty: unknown."""
    address: str = ""
    """The network address that the request came from."""
    queues: tuple[str, ...] | None = None
    """The queues that a worker may serve; None: all of its namespace."""
    pii: bool = False
    """Whether it has the right `pii:read`."""

    facets: tuple[str, ...] | None = None
    """Patterns of what an agent may do, such as `geo.*`; None: all of its namespace."""
    start_rate: int | None = None
    """Maximum number of runs that it may start per second; None: no limit."""
    max_running: int | None = None
    """Maximum number of its runs in progress in a namespace; None: no limit."""

    @property
    def reads_pii(self) -> bool:
        return self.pii or self.role == "admin"

    def may_serve(self, queue: str) -> bool:
        return self.queues is None or queue in self.queues

    def may_do(self, facet: str) -> bool:
        return self.facets is None or any(fnmatchcase(facet, pattern) for pattern in self.facets)

    def may(self, needed: RequiredRole) -> bool:
        """Whether the role is enough. An agent may use only the routes for agents."""
        if self.role == "agent":
            return needed in ("agent", "public")
        return needed in ("any", "public") or needed in _GRANTS[self.role]


ANONYMOUS = Caller("anonymous", "admin", EVERYWHERE, "open")
"""Everyone, when the server is open: on a loopback address only."""
NOBODY = Caller("nobody", "worker", EVERYWHERE, "open")
"""The caller of a public route: unknown, and without rights."""


def stranger(address: str) -> Caller:
    """Makes a caller without a valid credential."""
    return Caller("nobody", "worker", EVERYWHERE, "open", address=address)
