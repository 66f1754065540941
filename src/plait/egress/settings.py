"""The operator's settings for outgoing requests. Definitions can't change them."""

from __future__ import annotations

from importlib.metadata import version

import msgspec

MIB = 1024 * 1024


class EgressSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Allowed hosts and ports, timeouts and sizes. Where two entries conflict, deny wins."""

    private: bool = False
    """Whether to open loopback, private networks and carrier-grade NAT; for development."""
    allow_hosts: tuple[str, ...] = ()
    """If set, only these hosts: `api.example.com`, `*.example.com` (all names below it, not itself), `192.0.2.10`."""
    deny_hosts: tuple[str, ...] = ()
    allow_ports: tuple[int, ...] = ()
    """If set, only these ports."""
    deny_ports: tuple[int, ...] = ()
    open_addresses: tuple[str, ...] = ()
    """Networks in CIDR notation to open that are closed by default, such as `10.1.2.0/24`."""
    deny_addresses: tuple[str, ...] = ()

    connect_timeout: float = 10.0
    """Seconds to look up the name, and as many to connect, including TLS."""
    first_byte_timeout: float | None = None
    """Seconds from the connection to the answer's headers; None: only `timeout` applies."""
    timeout: float = 30.0
    """Seconds for the whole request, including redirects and body, if the request sets none."""
    max_timeout: float = 3_600.0
    """Maximum `timeout` in seconds that a request may set."""

    max_redirects: int = 5
    max_request_bytes: int = 16 * MIB
    max_response_bytes: int = 16 * MIB
    """Maximum bytes of an answer's body, as received and again after decompression."""
    max_header_bytes: int = 64 * 1024
    """Maximum bytes of the headers of a request, and of an answer; an answer's are never more than 100 KiB."""

    max_connections: int = 100
    max_connections_per_address: int = 20
    keep_alive: float = 30.0
    """Seconds for which an idle connection is kept."""
    max_idle_connections: int = 50

    ca_file: str | None = None
    """PEM file of certificate authorities to trust besides the public ones."""
    user_agent: str = f"plait/{version('plait')}"
