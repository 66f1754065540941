"""A caller with what the audit trail wants to know beside his name."""

from __future__ import annotations

from plait.server.caller import EVERYWHERE, Caller


class Known(Caller, frozen=True, gc=False):
    id: str = ""
    """Of what proved him: `key:…`, `token:…`, `link:…`. Never the secret itself. Empty: nobody knows who it is."""
    address: str = ""
    """Where the request came from."""


def stranger(address: str) -> Known:
    """Somebody whose key is not good."""
    return Known("nobody", "worker", EVERYWHERE, "open", address=address)
