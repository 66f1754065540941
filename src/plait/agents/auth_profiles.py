"""Credentials by name: a model names a profile and never sees its values.

A model also chooses where a request goes. So a profile is sent only to the hosts that the operator listed for it; one
without hosts works only for requests whose address was written by people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from plait.kernel.errors import InvalidInput


class AuthProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    headers: dict[str, str]
    hosts: list[str] = []
    """`api.example.com`, or `*.example.com` for all of its subdomains."""

    def __repr__(self) -> str:
        return f"AuthProfile(headers={sorted(self.headers)}, hosts={self.hosts})"  # values are secrets

    def fits(self, host: str) -> bool:
        return any(_matches(pattern.lower(), host.lower()) for pattern in self.hosts)


Given = AuthProfile | Mapping[str, Any]
"""A profile, `{"headers": {…}, "hosts": […]}`, or the headers alone."""


def read_auth_profiles(given: Mapping[str, Given] | None) -> dict[str, AuthProfile]:
    """Raises `InvalidInput`."""
    return {name: _profile(name, each) for name, each in (given or {}).items()}


def _profile(name: str, given: Given) -> AuthProfile:
    if isinstance(given, AuthProfile):
        return given
    whole = isinstance(given.get("headers"), Mapping)
    try:
        return msgspec.convert(dict(given) if whole else {"headers": dict(given)}, AuthProfile)
    except msgspec.ValidationError:  # drop the message, which may show a value
        raise InvalidInput(
            "agent.bad_auth_profile",
            f"the auth profile {name!r} can't be read",
            fix='give {"headers": {"Authorization": "…"}, "hosts": ["api.example.com"]}',
        ) from None


def _matches(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern
