"""What the operator decides about requests to the outside. Definitions can't change any of it."""

from __future__ import annotations

from importlib.metadata import version

import msgspec

MIB = 1024 * 1024


class EgressSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may be asked, for how long and how much. Where two entries disagree, deny wins."""

    private: bool = False
    """Opens loopback, private networks and carrier-grade NAT: for development."""
    allow_hosts: tuple[str, ...] = ()
    """If any, only these: `api.example.com`, `*.example.com` (all names below it, not itself), `192.0.2.10`."""
    deny_hosts: tuple[str, ...] = ()
    allow_ports: tuple[int, ...] = ()
    """If any, only these."""
    deny_ports: tuple[int, ...] = ()
    open_addresses: tuple[str, ...] = ()
    """Networks in CIDR notation that are open though closed by default: `10.1.2.0/24`."""
    deny_addresses: tuple[str, ...] = ()

    connect_timeout: float = 10.0
    """Seconds to look up the name, and again to connect, with TLS."""
    first_byte_timeout: float | None = None
    """Seconds from the connection to the answer's headers; None leaves it to the timeout of the whole."""
    timeout: float = 30.0
    """Seconds for the whole, redirects and body included, where a request names none."""
    max_timeout: float = 3_600.0
    """The longest that a request may ask for."""

    max_redirects: int = 5
    max_request_bytes: int = 16 * MIB
    max_response_bytes: int = 16 * MIB
    """Counted as received and again after decompression."""
    max_header_bytes: int = 64 * 1024
    """For the headers of a request, and of an answer; those of an answer are never more than 100 KiB."""

    max_connections: int = 100
    max_connections_per_address: int = 20
    keep_alive: float = 30.0
    """Seconds that an idle connection is kept."""
    max_idle_connections: int = 50

    ca_file: str | None = None
    """PEM file of certificate authorities to trust besides the public ones."""
    user_agent: str = f"plait/{version('plait')}"
