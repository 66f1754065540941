"""Refuses requests because of where they come from.

An open server and the mount require no key: they trust everyone who can reach them, and a web page in a browser on the
same machine can. So they answer only to their own host names (against DNS rebinding) and refuse what pages of other
sites send: changes, reads, live streams and sockets. Links that a person follows are not refused.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from .argyll.cors import Cors
from .argyll.paths import is_mounted
from .auth.loopback import is_loopback
from .auth.origins import SAFE_METHODS, cross_origin, origin_of
from .errors import BadRequest, Forbidden
from .site import Settings

_PORT = re.compile(r":[0-9]*\Z")
_DEFAULT_PORT = re.compile(r":(80|443)\Z")
_FOR_CLIENTS_TOO = "/health"
"""The path where Argyll's clients look for the node that accepts changes."""


class OriginCheck:
    def __init__(self, settings: Settings) -> None:
        self._open = settings.open
        self._local_mount = settings.argyll == "local"
        self._cors = Cors(settings.argyll_origins)
        self._public = _DEFAULT_PORT.sub("", urlsplit(settings.public_url).netloc.lower())
        self._own_origins = (origin_of(settings.public_url),) if settings.public_url else ()
        self._is_ours = lru_cache(256)(self._is_own_name)

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raises 400 for two hosts, 403 for a host that is not ours and for pages of other sites."""
        hosts = headers.getlist("host")
        if len(hosts) > 1:  # a proxy in front of us may have used the other one
            raise BadRequest("http.two_hosts", "the request has two Host headers", fix="send one Host header")
        host = hosts[0].lower() if hosts else ""
        mounted = is_mounted(scope["path"])
        if (self._open or (mounted and self._local_mount)) and not self._is_ours(host):
            raise _foreign_host(host)
        if (self._open or mounted) and (why := self._foreign_page(scope, headers, host, mounted=mounted)):
            raise _foreign_origin(why)

    def _foreign_page(self, scope: Scope, headers: Headers, host: str, *, mounted: bool) -> str:
        """Why a request counts as sent by a page of another site; empty if it does not, or if that page may call."""
        origin = headers.get("origin")
        if origin is None and "sec-fetch-site" not in headers:
            return ""  # not a browser, or a page of ours that reads
        if (mounted or scope["path"] == _FOR_CLIENTS_TOO) and self._cors.allows(origin):
            return ""
        if origin is None and headers.get("sec-fetch-mode") == "navigate" and scope.get("method") in SAFE_METHODS:
            return ""
        why = cross_origin(headers, self._own_origins)
        if not why and origin is not None and not (self._is_ours(host) or _is_address(host)):
            return "its host name may have been pointed here by somebody else; --public-url says which name is ours"
        return why

    def _is_own_name(self, host: str) -> bool:
        """Whether the host is one of this machine's names or the public name."""
        name = _PORT.sub("", host)
        return (
            is_loopback(name)
            or name.endswith(".localhost")
            or (bool(self._public) and _DEFAULT_PORT.sub("", host) == self._public)
        )


def _is_address(host: str) -> bool:
    """Whether the host is an IP address: nobody can point that somewhere else."""
    try:
        ipaddress.ip_address(_PORT.sub("", host).strip("[]"))
    except ValueError:
        return False
    return True


def _foreign_host(host: str) -> Forbidden:
    return Forbidden(
        "http.foreign_host",
        f"host {host[:80]!r} is not allowed",
        why="this server has no access control and answers only to local names",
        fix="use http://127.0.0.1, or set the address with --public-url",
    )


def _foreign_origin(why: str) -> Forbidden:
    return Forbidden(
        "http.foreign_origin",
        "requests from pages of other sites are not allowed",
        why=why,
        fix="use this server's own pages; for clients of Argyll in a browser, list their sites with --argyll-origins",
    )
