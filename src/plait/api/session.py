"""Who the caller is, and browser sessions."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from .caller import Mode, Role
from .shape import Body, Shape


class Me(Shape, frozen=True, kw_only=True):
    """The caller, as the server sees it."""

    name: str
    role: Role
    namespace: str
    """The caller's one namespace, or `*`."""
    mode: Mode
    version: str
    """Of the server."""
    namespaces: list[str]
    """Those the caller can see."""
    dialects: list[str] = []
    """What this server can run."""


class SignIn(Body, frozen=True, kw_only=True):
    key: Annotated[str, Meta(min_length=1, max_length=1000)]
