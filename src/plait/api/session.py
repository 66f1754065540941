"""The caller's identity, and browser sessions."""

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
    """The server's version."""
    namespaces: list[str]
    """The namespaces that the caller can see."""
    dialects: list[str] = []
    """The dialects that this server can run."""


class SignIn(Body, frozen=True, kw_only=True):
    key: Annotated[str, Meta(min_length=1, max_length=1000)]
